/** Type of webhook event. */
export interface EventType {
  /** Name that identifies it to receivers. It never changes. */
  readonly name: string
  /** Whether it is about an account rather than a site. */
  readonly isOfAccount?: true
}

/** Declares the events of a resource. */
export function declareEvents<const Name extends string>(...names: Name[]): Readonly<Record<Name, EventType>> {
  return Object.fromEntries(names.map((name): [string, EventType] => [name, { name }])) as Record<Name, EventType>
}

/** Declares events about an account. */
export function declareAccountEvents<const Name extends string>(...names: Name[]): Readonly<Record<Name, EventType>> {
  const declared = names.map((name): [string, EventType] => [name, { name, isOfAccount: true }])
  return Object.fromEntries(declared) as Record<Name, EventType>
}
