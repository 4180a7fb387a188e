#!/bin/sh
# Runs Stead with the Node of this package and the settings of the service. Variables that are already set win.
set -eu
settings=/etc/stead/stead.env

read_settings() {
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in STEAD_*=*) ;; *) continue ;; esac
    name=${line%%=*}
    case $name in *[!A-Z0-9_]*) continue ;; esac
    value=$(printf '%s' "${line#*=}" | sed -e 's/[[:space:]]*$//' -e 's/^"\(.*\)"$/\1/' -e "s/^'\\(.*\\)'\$/\\1/")
    eval "[ -n \"\${$name+set}\" ]" || export "$name=$value"
  done <"$settings"
}

# Prints the user whose files are in the data folder.
owner_of_data() {
  data=${STEAD_DATA_DIR:-/var/lib/stead}
  stat -c %U "$data/identity.json" 2>/dev/null || stat -c %U "$data" 2>/dev/null || echo root
}

# Commands of root that use the data folder run as its owner, because other files would belong to root. The service has its user.
should_change_user() {
  [ "$(id -u)" = 0 ] && [ "${SYSTEMD_EXEC_PID-}" != $$ ] || return 1
  case ${1-} in
  serve | control | host | edge | dns | database | backup | restore | key | account | application | site | config | doctor) ;;
  *) return 1 ;;
  esac
  owner=$(owner_of_data)
  [ "$owner" != root ] && [ "$owner" != UNKNOWN ]
}

[ ! -r "$settings" ] || read_settings
if should_change_user "$@"; then
  HOME=$(getent passwd "$owner" | cut -d: -f6)
  export HOME
  exec setpriv --reuid="$owner" --regid="$(id -g "$owner")" --init-groups "$0" "$@"
fi
if [ -z "${NODE_COMPILE_CACHE-}" ] && [ -w /var/cache/stead ]; then export NODE_COMPILE_CACHE=/var/cache/stead; fi
exec /usr/lib/stead/node/bin/node --max-semi-space-size=2 /usr/lib/stead/bin/stead.js "$@"
