/** A kind of event that webhooks tell of. */
export interface EventType {
  /** What receivers know it by: it stays for ever. */
  readonly name: string
}

/** Declares the events of a resource. */
export function declareEvents<const Name extends string>(...names: Name[]): Readonly<Record<Name, EventType>> {
  return Object.fromEntries(names.map((name): [string, EventType] => [name, { name }])) as Record<Name, EventType>
}
