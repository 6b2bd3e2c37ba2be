"""What a content tree must be served as, worked out from its files without any help from the program.

`expected(tree)` follows docs/content.md anew: the URI of each resource of one server, and its bytes before front matter,
templates and base64 come into play. Resources that the program renders have `None` for their bytes, and those that it
fetches have `LIVE`.
"""

import re
from pathlib import Path
from urllib.parse import quote

import yaml

# What a resource holds that is fetched at each read: only its upstream knows.
LIVE = object()


def expected(server: Path) -> dict[str, bytes | object | None]:
    """The resources of the server in this folder: URI → bytes."""
    prefix = load(server / "server.yaml").get("uri_prefix", f"{server.name}://")
    resources = {}
    for path in visible_files(server / "resources"):
        if path.suffix in (".yaml", ".yml"):
            definitions = load(path)
            for definition in definitions if isinstance(definitions, list) else [definitions]:
                resources.update(defined(definition, path.parent))
        else:
            meta, content = split_front_matter(path)
            uri = meta.get("uri") or from_path(prefix, path.relative_to(server / "resources"))
            resources[uri] = content
    return resources


def defined(definition: dict, folder: Path) -> dict[str, bytes | object | None]:
    """The resources that one definition gives; none for a template."""
    if "uri_template" in definition:
        return {}
    if "url" in definition or "wp_query" in definition:
        return {definition["uri"]: LIVE}
    uri, source = definition["uri"], definition["static"]
    if "files" in source:
        root = folder / re.match(r"[^*?\[{]*/|", source["files"])[0]
        files = [file.relative_to(root) for file in folder.glob(source["files"]) if file.is_file()]
        contents = {with_path(uri, file): root / file for file in files if not is_hidden(file)}
    else:
        contents = {uri: folder / source["file"] if "file" in source else source.get("text")}
    rendered = source.get("render") == "true"
    return {uri: None if rendered else bytes_of(content) for uri, content in contents.items()}


def bytes_of(content: Path | str) -> bytes:
    return split_front_matter(content)[1] if isinstance(content, Path) else content.encode()


def from_path(prefix: str, path: Path) -> str:
    """The URI of a plain file, by its path below `resources/`."""
    if path.as_posix() != "index.md":
        return prefix + uri_path(path)
    return prefix + "index" if prefix.endswith("://") else prefix.removesuffix("/")


def with_path(uri: str, path: Path) -> str:
    """The URI of one file of a glob."""
    return uri.replace("{path}", uri_path(path)) if path.as_posix() != "index.md" else uri.replace("/{path}", "")


def uri_path(path: Path) -> str:
    if path.name == "index.md" and path.parent.name:
        path = path.parent
    return quote(path.as_posix().removesuffix(".md"), safe="/!$&'()*+,;=:@")


def split_front_matter(path: Path) -> tuple[dict, bytes]:
    """The metadata of a Markdown file, and what is left of it when front matter and byte order mark are gone."""
    content = path.read_bytes()
    if path.suffix not in (".md", ".markdown"):
        return {}, content
    content = content.removeprefix(b"\xef\xbb\xbf")
    found = re.match(rb"---[ \t]*\r?\n(.*?^)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)(?:\r?\n)?", content, re.DOTALL | re.MULTILINE)
    return (yaml.load(found[1], yaml.BaseLoader) or {}, content[found.end():]) if found else ({}, content)


def visible_files(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if not is_hidden(path.relative_to(folder))]


def is_hidden(path: Path) -> bool:
    return any(part[0] in "._" for part in path.parts)


def load(path: Path):
    """YAML in which every scalar is the text that stands in the file."""
    return yaml.load(path.read_text("utf-8-sig"), yaml.BaseLoader) or {}
