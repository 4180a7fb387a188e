import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The data that a first start leaves for its owner, in a file that only the owner can read. */
export interface OwnerCredentials {
  readonly client_id: string
  readonly client_secret: string
  readonly api_url: string
  readonly edge_url: string
  readonly account_email: string
  /** A link that sets the first password of the control panel, once within a week. */
  readonly panel_link?: string
}

/** Returns the URL of a listening address. An IPv6 address needs brackets. */
export const urlOf = ({ host, port }: { readonly host: string; readonly port: number }): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

export const credentialsFile = (dataDir: string): string => join(dataDir, 'credentials.json')

/** Returns `undefined` when the file does not exist (any longer). */
export async function readCredentials(dataDir: string): Promise<OwnerCredentials | undefined> {
  try {
    return JSON.parse(await readFile(credentialsFile(dataDir), 'utf8')) as OwnerCredentials
  } catch {
    return undefined
  }
}
