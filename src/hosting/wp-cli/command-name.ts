/** Commands of WP-CLI whose first word after them names what they do; with any other that word may be a value. */
const GROUPS = new Set(
  `cache cap cli comment config core cron db embed i18n language maintenance-mode media menu network option package plugin post
  post-type rewrite role scaffold sidebar site super-admin taxonomy term theme transient user widget`.split(/\s+/),
)
const NAME = /^[a-z][a-z0-9-]{0,39}$/
/** What only reads, as far as its name says. */
const READING = new Set(
  `check-update columns exists export get help info is-active is-installed list path pluck prefix search size status tables type
  verify-checksums version`.split(/\s+/),
)

/** The words of a command but for options and the name of an alias (`@staging`) before it. */
export function plainWords(words: readonly string[]): string[] {
  const plain = words.slice(1).filter((word) => word === '-' || !word.startsWith('-'))
  return plain[0]?.startsWith('@') ? plain.slice(1) : plain
}

/** What a command is called, without anything that may be a secret: `wp plugin install`. */
export function commandName(words: readonly string[]): string {
  const [first = '', second = ''] = plainWords(words)
  if (!NAME.test(first)) return 'wp'
  return GROUPS.has(first) && NAME.test(second) ? `wp ${first} ${second}` : `wp ${first}`
}

/** It may have changed files of the site. */
export function mayChange(name: string): boolean {
  const last = name.split(' ').at(-1) ?? ''
  return !READING.has(last)
}
