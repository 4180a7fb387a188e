/** API application that has sent a valid token. */
export interface Caller {
  readonly applicationId: number
  readonly accountId: number
  readonly accountEmail: string
  /** Scope `owner`: the application was created with account owner permission. */
  readonly isOwner: boolean
  /** Session of a person in the control panel, identified by a browser's cookie. */
  readonly session?: {
    readonly id: number
    /** When the password was last confirmed. */
    readonly provenAt: number
    readonly expiresAt: number
    readonly origin: string
  }
}
