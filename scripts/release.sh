#!/bin/bash
# Makes a release of what is checked out: packages for every suite, what they are made of, checksums, notes, and at the
# end a signed tag. Refuses what is not committed, not described or not tested. Nothing leaves this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
SUITES=(trixie bookworm)
RELEASE=build/release

refuse() {
    echo "No release was made. $*" >&2
    exit 1
}

version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' nasadvisor/__init__.py)
tag=v$version
changed=$(git status --porcelain)
[ -z "$changed" ] || refuse "These files are not committed:" $'\n'"$changed"
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || refuse "nasadvisor/__init__.py has the version $version, which is not like 1.2.3."
grep --quiet --extended-regexp "^## $version \(20[0-9]{2}-[0-9]{2}-[0-9]{2}\)$" CHANGELOG.md \
    || refuse "CHANGELOG.md has no part \"## $version (YEAR-MONTH-DAY)\"."
! git rev-parse --quiet --verify "refs/tags/$tag" > /dev/null || refuse "The tag $tag is there already."
git config --get user.signingkey > /dev/null || refuse "git has no key to sign with: git config user.signingkey KEY"

make test

rm -rf "$RELEASE"
mkdir -p "$RELEASE"
for suite in "${SUITES[@]}"; do
    mapfile -t packages < <(python3 -m tests.lab deb --released --suite "$suite")
    [ "${#packages[@]}" -gt 0 ] || refuse "There is no package for $suite."
    cp "${packages[@]}" "$RELEASE/"
done
mapfile -t names < <(cd "$RELEASE" && ls -- *.deb)
scripts/sbom.sh "$RELEASE" "${names[@]}"
sed --quiet "/^## $version /,/^## /{/^## /!p}" CHANGELOG.md | sed --expression '/./,$!d' > "$RELEASE/NOTES.md"
git tag --sign --file "$RELEASE/NOTES.md" --cleanup=verbatim "$tag"

echo "$tag is tagged. In $RELEASE:"
ls "$RELEASE"
echo "To publish it: git push origin $tag, then upload these files with the notes."
