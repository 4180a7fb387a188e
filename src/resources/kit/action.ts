/** Action that an activity log can report. */
export interface Action {
  /** `noun.verb`. It is stored and used in filters, so it never changes. */
  readonly name: string
  readonly description: string
  /** The log of a site has only those on `site`. The log of an account has all. */
  readonly on: 'account' | 'site'
}

/**
 * Declares the actions of a resource, with a description for each name. `site` includes actions on a site's operations
 * and collaborators.
 */
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
