# Starts the programs of this folder with the libraries that it carries. The scripts beside it set
# `kit` to the folder and read this file.
# shellcheck shell=bash

# shellcheck disable=SC2154
[[ -d $kit/bin ]] || tar -xzf "$kit/programs.tar.gz" -C "$kit" || exit 1
loader=$kit/lib/ld-linux-x86-64.so.2
# The driver's library is the machine's own; it may stand outside the default folders.
# A script that another one of the kit starts has the path from it.
export KIT_LIBRARY_PATH=${KIT_LIBRARY_PATH-${LD_LIBRARY_PATH-}}
libraries=$kit/lib${KIT_LIBRARY_PATH:+:$KIT_LIBRARY_PATH}
for folder in $( (ldconfig -p || /sbin/ldconfig -p) 2>/dev/null | sed -n 's|.*libcuda\.so\.1.*=> \(.*\)/[^/]*$|\1|p'); do
  libraries+=:$folder
done
unset LD_LIBRARY_PATH

# start PROGRAM ARGUMENT...
start() {
  "$loader" --library-path "$libraries" "$kit/bin/$1" "${@:2}"
}
