#!/bin/sh
# take-node.sh OUT: makes the root folder of an image that has Node and nothing else. This runs in the official image and copies
# from it `node`, the libraries that `node` and native packages are linked with, wherever this architecture keeps them, their
# licences, and dpkg's records of them, which scanners look for. Every file is dated 1970, so that an unchanged layer stays the
# same in each release.
set -eu
umask 022
out=$1
node=/usr/local/bin/node
# A library that libvips, in the image `images`, is linked with and Node is not.
more=libresolv.so.2
records=var/lib/dpkg/status.d

take() { for file; do [ ! -e "$file" ] || cp --parents --dereference "$file" "$out"; done; }

mkdir -p "$out/app" "$out/etc" "$out/tmp" "$out/$records"
chmod 1777 "$out/tmp"
libraries=$(ldd $node | grep -o '/[^ ]*')
libc=$(ldd $node | grep -o '/[^ ]*libc\.so[^ ]*')
libraries="$libraries $(ls "$(dirname "$libc")/$more")"
# shellcheck disable=SC2086 # each word is one file
take $node $libraries /etc/os-release /etc/nsswitch.conf /usr/local/LICENSE
for library in $libraries; do
  for package in $(dpkg-query --search "*/${library##*/}" | sed 's/[:,].*//' | sort -u); do
    dpkg-query --status "$package" >"$out/$records/$package"
    take "/usr/share/doc/$package/copyright"
  done
done
take /usr/share/common-licenses/GPL-3 /usr/share/common-licenses/LGPL-2.1 /usr/share/common-licenses/LGPL-3
printf '%s\n' 'root:x:0:0::/:/' 'nonroot:x:65532:65532::/tmp:/' >"$out/etc/passwd"
printf '%s\n' 'root:x:0:' 'nonroot:x:65532:' >"$out/etc/group"

# Runs the copied Node in its new root. If it does not start, the build ends here.
chroot "$out" $node --version
find "$out" -exec touch --no-dereference --date @0 {} +
