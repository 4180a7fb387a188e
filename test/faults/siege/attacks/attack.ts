/** What attacks are given. All of it can be sent to another process. */
export interface Target {
  readonly edgePort: number
  readonly apiUrl: string
  /** The eight sites of the hostile account. */
  readonly sites: readonly { readonly id: number; readonly host: string }[]
  /** The host name of the site that is measured. */
  readonly ninthHost: string
  /** A token of the hostile account. */
  readonly token: string
  /** An operation of the hostile account that does not end by itself. */
  readonly openOperation: number
}

/** One way to hurt others. */
export interface Attack {
  readonly name: string
  /** Connections that it holds all the while. */
  readonly connections: number
  /** What the owner puts into a hostile site beforehand, by its path below the web root. @param site 0 to 7 */
  files?(site: number): Readonly<Record<string, string>> | undefined
  /** Why it cannot be made here. */
  missing?(): string | undefined
  /** Goes on until the signal; a refusal is no reason to stop. */
  run(target: Target, signal: AbortSignal): Promise<void>
}
