/** Something that an activity log can say was done. */
export interface Action {
  /** `noun.verb`; stored, and filtered by: it stays for ever. */
  readonly name: string
  readonly description: string
  /** The log of a site has those on it; the log of an account has all. */
  readonly on: 'account' | 'site'
}

/** Declares the actions of a resource: what each means, by its name. `site` is for those on work or people of a site, too. */
export function declareActions<const Name extends string>(
  on: Action['on'],
  descriptions: Readonly<Record<Name, string>>,
): Readonly<Record<Name, Action>> {
  const entries = Object.entries<string>(descriptions)
  return Object.fromEntries(entries.map(([name, description]) => [name, { name, description, on }])) as Record<
    Name,
    Action
  >
}
