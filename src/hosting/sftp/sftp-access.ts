/** Reads from the control database who has SFTP access. */
export interface SftpAccess {
  /** Returns a user of a site that is on this host and open. */
  find(username: string): Promise<SftpLogin | undefined>
  /** Returns which of these users may stay connected, with their epochs. */
  standing(userIds: readonly number[]): Promise<ReadonlyMap<number, number>>
  /** Records a login. */
  loggedIn(login: SftpLogin, address: string): Promise<void>
  /** Calls the listener when any of this may have changed. @returns a function that unsubscribes */
  subscribe(listener: () => void): () => void
}

export interface SftpLogin {
  readonly userId: number
  readonly siteId: number
  readonly username: string
  /** When it changes, connected clients of the user must be disconnected. */
  readonly epoch: number
  readonly passwordHash: string | null
  /** Base64, as in `authorized_keys`. */
  readonly publicKeys: readonly string[]
}
