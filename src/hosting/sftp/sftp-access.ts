/** What the records say of who may come. */
export interface SftpAccess {
  /** A user of a site that lives here and is open. */
  find(username: string): Promise<SftpLogin | undefined>
  /** Of these users those that may be connected still, with their epochs. */
  standing(userIds: readonly number[]): Promise<ReadonlyMap<number, number>>
  /** Somebody logged in. */
  loggedIn(login: SftpLogin, address: string): Promise<void>
  /** Calls when something of that may have changed. @returns a function that ends it */
  subscribe(listener: () => void): () => void
}

export interface SftpLogin {
  readonly userId: number
  readonly siteId: number
  readonly username: string
  /** Another one means that who is connected must go. */
  readonly epoch: number
  readonly passwordHash: string | null
  /** Base64, as in `authorized_keys`. */
  readonly publicKeys: readonly string[]
}
