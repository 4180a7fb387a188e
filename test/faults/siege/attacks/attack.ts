/** The target of attacks. All of it can be sent to another process. */
export interface Target {
  readonly edgePort: number
  readonly apiUrl: string
  /** The eight sites of the hostile account. */
  readonly sites: readonly { readonly id: number; readonly host: string }[]
  /** The host name of the site that is measured. */
  readonly ninthHost: string
  /** A token of the hostile account. */
  readonly token: string
  /** An operation of the hostile account that stays open. */
  readonly openOperation: number
}

/** One way to harm others. */
export interface Attack {
  readonly name: string
  /** Connections that it holds throughout. */
  readonly connections: number
  /** Files that the owner puts into a hostile site beforehand, by path below the web root. @param site 0 to 7 */
  files?(site: number): Readonly<Record<string, string>> | undefined
  /** Why the attack is not possible here. */
  missing?(): string | undefined
  /** Attacks until the signal. Does not stop when it is refused. */
  run(target: Target, signal: AbortSignal): Promise<void>
}
