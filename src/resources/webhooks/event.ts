/** A kind of event that webhooks tell of. */
export interface EventType {
  /** What receivers know it by: it stays for ever. */
  readonly name: string
  /** It is about an account, and no site of it. */
  readonly isOfAccount?: true
}

/** Declares the events of a resource. */
export function declareEvents<const Name extends string>(...names: Name[]): Readonly<Record<Name, EventType>> {
  return Object.fromEntries(names.map((name): [string, EventType] => [name, { name }])) as Record<Name, EventType>
}

/** Declares those that are about an account. */
export function declareAccountEvents<const Name extends string>(...names: Name[]): Readonly<Record<Name, EventType>> {
  const declared = names.map((name): [string, EventType] => [name, { name, isOfAccount: true }])
  return Object.fromEntries(declared) as Record<Name, EventType>
}
