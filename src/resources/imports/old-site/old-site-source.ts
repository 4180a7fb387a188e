import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { fingerprintOf } from '../../../hosting/site-imports/sources/fingerprint.ts'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import { AddressRefused, canonicalHost } from '../../../platform/fetch/addresses.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { nullable, oneOf } from '../../../platform/http/schemas.ts'
import { problems } from '../problems.ts'

const MOST_KEY_TEXT = 16_384
const SSH_PORT = 22
/** Purposes that the login of an old site is sealed for. */
const PURPOSE = 'import login'
const PLUGIN_PURPOSE = 'import plugin'

/** The running old site, in a request. */
export const NewImportSource = Type.Object(
  {
    type: oneOf(['ssh'], { description: '`ssh`: a login by SSH with SFTP' }),
    host: Type.String({ minLength: 1, maxLength: 255, examples: ['ssh.example.com'] }),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: 'Default: 22', examples: [22] })),
    user: Type.String({
      pattern: '^[^\\x00-\\x1f\\x7f]{1,100}$',
      description: 'User name of the login',
      examples: ['me'],
    }),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, examples: ['a-password'] })),
    private_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MOST_KEY_TEXT,
        description: 'Private key without a passphrase, instead of a password',
        examples: ['-----BEGIN OPENSSH PRIVATE KEY-----\n…'],
      }),
    ),
    host_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description:
          'Fingerprint (`SHA256:…`) or public key of the old machine. Without it, Stead trusts the first key and requires the same key afterwards',
        examples: ['SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8'],
      }),
    ),
    path: Type.String({
      pattern: '^[^\\x00-\\x1f\\x7f]{1,1000}$',
      description: 'Folder of WordPress. A relative path starts in the folder of the login',
      examples: ['public_html'],
    }),
  },
  { title: 'NewImportSource', description: 'The running old site, instead of files' },
)
type NewImportSource = Type.Static<typeof NewImportSource>

/** The running old site, as the API shows it. */
export const ImportSourceSchema = Type.Object(
  {
    type: oneOf(['ssh']),
    host: Type.String({ examples: ['ssh.example.com'] }),
    port: Type.Integer({ examples: [22] }),
    user: Type.String({ examples: ['me'] }),
    path: Type.String({ examples: ['public_html'] }),
    hostKey: nullable(
      Type.String({
        description: 'Fingerprint of the old machine’s host key; null until the first connection',
        examples: ['SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8'],
      }),
    ),
  },
  { title: 'ImportSource' },
)
/** The running old site, as it is stored. Its login is stored sealed next to it. */
export type LiveSource = Type.Static<typeof ImportSourceSchema>

/** The old site with Stead's plugin, in a request. */
export const NewImportPlugin = Type.Object(
  {
    address: Type.String({
      minLength: 1,
      maxLength: 300,
      description: 'https address of the front page of the old site, without a folder',
      examples: ['https://old.example.com'],
    }),
  },
  { title: 'NewImportPlugin', description: 'The running old site with a plugin of Stead, for hosts without SSH' },
)

/** The same, as the API shows it. */
export const ImportPluginSchema = Type.Object(
  { address: Type.String({ examples: ['https://old.example.com'] }) },
  { title: 'ImportByPlugin' },
)

/** Old site that is accessed through its plugin, as it is stored. The token is stored sealed next to it. */
export interface PluginSource {
  readonly type: 'plugin'
  readonly address: string
}

/** Running old site, with either kind of access. */
export type OldSource = LiveSource | PluginSource

/** Login to an old site. */
export type LiveSecret = { readonly password: string } | { readonly privateKey: string }

export const sealSecret = (secret: LiveSecret, sealer: Sealer): string => sealer.seal(JSON.stringify(secret), PURPOSE)

/** Creates the token with which the plugin of one import recognizes Stead. */
export function takePlugin(
  { address }: Type.Static<typeof NewImportPlugin>,
  { sealer, allowsHttp }: { readonly sealer: Sealer; readonly allowsHttp: boolean },
): { live: PluginSource; liveSecret: string } {
  const url = URL.parse(address)
  const isPlain = url && !url.username && !url.password && url.pathname === '/' && !url.search && !url.hash
  if (!isPlain || (url.protocol !== 'https:' && !(allowsHttp && url.protocol === 'http:')))
    throw new Problem(problems.import_url_refused, {
      fault: '`plugin.address` is not an https address without a folder, such as https://old.example.com',
    })
  const liveSecret = sealer.seal(randomBytes(32).toString('base64url'), PLUGIN_PURPOSE)
  return { live: { type: 'plugin', address: url.origin }, liveSecret }
}

/** Returns the purpose that the login of an old site, or the token of its plugin, is sealed for. */
export const purposeOf = ({ type }: OldSource): string => (type === 'plugin' ? PLUGIN_PURPOSE : PURPOSE)

/** Returns the token of an import's plugin. */
export const openToken = (sealed: string, sealer: Sealer): string => sealer.open(sealed, PLUGIN_PURPOSE)

/**
 * Checks the source of a request.
 * @throws Problem `import_source_refused`
 */
export async function takeSource(
  source: NewImportSource,
  sealer: Sealer,
): Promise<{ live: LiveSource; liveSecret: string }> {
  const { type, port = SSH_PORT, user, password, private_key: privateKey, path } = source
  if ((password === undefined) === (privateKey === undefined))
    throw refused('provide either `password` or `private_key`')
  const secret = password === undefined ? { privateKey: await requireKey(privateKey as string) } : { password }
  const live = { type, host: requireHost(source.host), port, user, path, hostKey: hostKeyOf(source.host_key) }
  return { live, liveSecret: sealSecret(secret, sealer) }
}

const refused = (fault: string): Problem => new Problem(problems.import_source_refused, { fault })

function requireHost(host: string): string {
  try {
    return canonicalHost(host.trim())
  } catch (error) {
    if (error instanceof AddressRefused) throw refused('`host` is not a host name or an address')
    throw error
  }
}

/** Rejects keys with a passphrase, because the client would choose how long opening them takes. */
async function requireKey(text: string): Promise<string> {
  const { default: ssh2 } = await import('ssh2')
  const parsed = ssh2.utils.parseKey(text)
  if (parsed instanceof Error) {
    if (/encrypted|passphrase/i.test(parsed.message))
      throw refused('`private_key` has a passphrase. Make a key without one for this move: ssh-keygen -t ed25519')
    throw refused('`private_key` cannot be read. Send a whole private key of OpenSSH or PEM')
  }
  const key = Array.isArray(parsed) ? parsed[0] : parsed
  if (!key?.isPrivateKey()) throw refused('`private_key` is a public key. Send the private half')
  return text
}

function hostKeyOf(text: string | undefined): string | null {
  if (text === undefined) return null
  const [, fingerprint] = /^\s*(SHA256:[A-Za-z0-9+/]{43})=?\s*$/.exec(text) ?? []
  if (fingerprint) return fingerprint
  const [, key] = /(?:^|\s)(AAAA[A-Za-z0-9+/]{20,}={0,2})(?:\s|$)/.exec(text) ?? []
  if (!key) throw refused('`host_key` is neither a fingerprint (SHA256:…) nor a public key')
  return fingerprintOf(Buffer.from(key, 'base64'))
}
