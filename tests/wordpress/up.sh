#!/bin/sh
# Starts a real WordPress below DIR: installs it the first time, and only starts its servers again later.
#
#   up.sh [DIR]     prints NAME=VALUE lines on stdout, everything else goes to DIR/up.log
#
# Wants Debian 12. Root is needed only for packages that are missing. Nothing listens but 127.0.0.1:PORT.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-/tmp/mcpress-wordpress}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
socket=$dir/mysql.sock
log=$dir/up.log

# A socket's path has room for 107 bytes, and mariadbd cuts a longer one in silence.
if [ ${#socket} -gt 107 ]; then
    echo "up.sh: the path \`$dir\` is too long for a socket" >&2
    exit 2
fi

exec 3>&1 4>&2 >>"$log" 2>&1
status=0
trap 'status=$?; [ $status = 0 ] || { echo "up.sh: failed, the end of $log:"; tail -n 20 "$log"; } >&4' EXIT
echo "== $(date)"
# Tests that run side by side may share DIR.
exec 9>"$dir/lock"
flock 9

# --- packages ---------------------------------------------------------------------------------------------------

# None of them starts a service: mariadb-server-core is the server alone.
packages='php-cli php-mysql php-mbstring mariadb-server-core mariadb-client-core'

install_packages() {
    missing=
    for package in $packages; do
        dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    apt-get update -qq
    # shellcheck disable=SC2086 # a list of words
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
        -o Dpkg::Options::=--force-unsafe-io $missing
}

# WordPress is unpacked and not installed: its package would bring Apache along, and twenty others.
fetch_wordpress() {
    [ ! -s "$dir/wordpress.deb" ] || return 0
    cd "$dir"
    apt-get download -qq wordpress || { apt-get update -qq && apt-get download -qq wordpress; }
    mv wordpress_*.deb wordpress.deb
}

# --- servers ----------------------------------------------------------------------------------------------------

# A process id may have gone to another program since, so the command has to speak of DIR.
running() {
    [ -s "$dir/$1.pid" ] && grep -qF "$dir" "/proc/$(cat "$dir/$1.pid")/cmdline" 2>/dev/null
}

# start NAME COMMAND...: a process group of its own, without our descriptors, so that $(up.sh) can return.
start() {
    name=$1
    shift
    setsid "$@" </dev/null >>"$dir/$name.log" 2>&1 3>&- 4>&- 9>&- &
    echo $! >"$dir/$name.pid"
}

# await NAME COMMAND...: until COMMAND succeeds; fails at once when the server has died.
await() {
    name=$1
    shift
    tries=600
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        if [ $tries = 0 ] || ! running "$name"; then
            tail -n 20 "$dir/$name.log"
            return 1
        fi
        sleep 0.05
    done
}

sql() {
    mariadb --no-defaults --socket="$socket" "$@"
}

start_database() {
    running mariadbd && return 0
    if [ ! -d "$dir/mysql/mysql" ]; then
        # Moved into place when it is whole.
        rm -rf "$dir/mysql" "$dir/mysql.new"
        # shellcheck disable=SC2046 # nothing, or one option
        mariadb-install-db --no-defaults --datadir="$dir/mysql.new" --skip-test-db $(as_root)
        mv "$dir/mysql.new" "$dir/mysql"
    fi
    # Nobody but this machine's socket can reach it, so it needs no accounts; and its data need not outlive a crash.
    # shellcheck disable=SC2046
    start mariadbd mariadbd --no-defaults $(as_root) --datadir="$dir/mysql" --socket="$socket" \
        --pid-file="$dir/mysql/mariadbd.pid" --skip-networking --skip-grant-tables --skip-log-bin \
        --innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 --innodb-use-native-aio=0 \
        --character-set-server=utf8mb4 --collation-server=utf8mb4_unicode_520_ci
    await mariadbd sql -e 'SELECT 1'
}

as_root() {
    [ "$(id -u)" != 0 ] || echo --user=root
}

answers() {
    # shellcheck disable=SC2016 # PHP's variable
    php -r 'exit(@file_get_contents($argv[1]) === false ? 1 : 0);' "$1"
}

start_web() {
    if running php && answers "$(cat "$dir/url")/wp-json/"; then
        return 0
    fi
    port=$(php "$here/free-port.php" "$(cat "$dir/url" 2>/dev/null || true)")
    echo "http://127.0.0.1:$port" >"$dir/url"
    PHP_CLI_SERVER_WORKERS=4 start php php -d display_errors=0 -d log_errors=1 -d memory_limit=512M \
        -S "127.0.0.1:$port" -t "$dir/site" "$here/router.php"
    await php answers "http://127.0.0.1:$port/wp-json/"
}

# --- the site ---------------------------------------------------------------------------------------------------

# Anything that changes what is in the database makes a new one.
fingerprint() {
    cat "$here/install.php" "$here/seed.php" "$here/mu-plugins/site.php" "$here/wp-config.php" | sha256sum
    dpkg-deb -f "$dir/wordpress.deb" Version
}

make_site() {
    [ "$(cat "$dir/seeded" 2>/dev/null || true)" != "$(fingerprint)" ] || return 0
    rm -rf "$dir/site" "$dir/seeded" "$dir/package"
    dpkg-deb -x "$dir/wordpress.deb" "$dir/package"
    mv "$dir/package/usr/share/wordpress" "$dir/site"
    rm -rf "$dir/package" "$dir/site/wp-content" "$dir/site/.htaccess"
    mkdir -p "$dir/site/wp-content/themes" "$dir/site/wp-content/plugins" "$dir/site/wp-content/uploads"
    ln -s "$here/mu-plugins" "$dir/site/wp-content/mu-plugins"
    ln -s "$here/theme" "$dir/site/wp-content/themes/plain"
    cp "$here/wp-config.php" "$dir/site/wp-config.php"
    sql -e 'DROP DATABASE IF EXISTS wordpress; CREATE DATABASE wordpress'
    php -d log_errors=1 "$here/install.php" "$dir/site"
    php -d log_errors=1 "$here/seed.php" "$dir/site"
    fingerprint >"$dir/seeded"
}

install_packages
fetch_wordpress
start_database
make_site
start_web

printf '#!/bin/sh\nexec php "%s" "%s"\n' "$here/oracle.php" "$dir/site" >"$dir/oracle"
chmod 755 "$dir/oracle"

cat >&3 <<END
WORDPRESS_URL=$(cat "$dir/url")
WORDPRESS_USERNAME=editor
WORDPRESS_APPLICATION_PASSWORD=abcdEFGHijklMNOPqrstUVWX
WORDPRESS_ORACLE=$dir/oracle
END
