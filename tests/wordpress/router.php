<?php
/**
 * The router of `php -S`: uploads are files, everything else is WordPress.
 *
 * `/~MODE/…` is the same site in a subfolder, with the fault MODE of `mu-plugins/faults.php` switched on
 * (`/~none/…` has none), so that a program under test can be given a broken site by its address alone.
 */

$site = $_SERVER['DOCUMENT_ROOT'];
$path = rawurldecode(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) ?: '/');

$folder = '';
if (preg_match('#^/~([a-z0-9,]+)(?=/|$)#', $path, $match)) {
    $folder = $match[0];
    $path = substr($path, strlen($folder));
    $_SERVER['HTTP_X_BREAK'] = $match[1];
    $_SERVER['SITE_FOLDER'] = $folder;
}

if (preg_match('#^/wp-content/uploads/[\w./-]+\.(png|txt)$#', $path) && !str_contains($path, '..') && is_file($site . $path)) {
    header('Content-Type: ' . (str_ends_with($path, '.png') ? 'image/png' : 'text/plain'));
    readfile($site . $path);
    return true;
}

$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = "$folder/index.php";
$_SERVER['SCRIPT_FILENAME'] = "$site/index.php";
unset($_SERVER['PATH_INFO']);
chdir($site);
require "$site/index.php";
