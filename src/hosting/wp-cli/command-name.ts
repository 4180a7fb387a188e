/** Commands of WP-CLI whose next word names an action. After any other command, that word may be a value. */
const GROUPS = new Set(
  `cache cap cli comment config core cron db embed i18n language maintenance-mode media menu network option package plugin post
  post-type rewrite role scaffold sidebar site super-admin taxonomy term theme transient user widget`.split(/\s+/),
)
const NAME = /^[a-z][a-z0-9-]{0,39}$/
/** Actions that only read, according to their names. */
const READING = new Set(
  `check-update columns exists export get help info is-active is-installed list path pluck prefix search size status tables type
  verify-checksums version`.split(/\s+/),
)

/** Returns the words of a command without options, and without the name of an alias (`@staging`) before it. */
export function plainWords(words: readonly string[]): string[] {
  const plain = words.slice(1).filter((word) => word === '-' || !word.startsWith('-'))
  return plain[0]?.startsWith('@') ? plain.slice(1) : plain
}

/** Returns the name of a command, without anything that may be secret: `wp plugin install`. */
export function commandName(words: readonly string[]): string {
  const [first = '', second = ''] = plainWords(words)
  if (!NAME.test(first)) return 'wp'
  return GROUPS.has(first) && NAME.test(second) ? `wp ${first} ${second}` : `wp ${first}`
}

/** Returns whether it may have changed files of the site. */
export function mayChange(name: string): boolean {
  const last = name.split(' ').at(-1) ?? ''
  return !READING.has(last)
}
