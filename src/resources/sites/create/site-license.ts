import Type from 'typebox'
import { nullable } from '../../../platform/http/schemas.ts'

/** License of a site. Its key stays the same until it is revoked. */
export interface License {
  readonly id: number
  readonly siteId: number
  readonly licenseKey: string
  /** Milliseconds since 1970, like `revokedAt`. */
  readonly issuedAt: number
  readonly revokedAt: number | null
}

/** License of a site, or `null` before one was issued. */
export const LicenseSchema = Type.Unsafe<PresentedLicense | null>({
  type: ['object', 'null'],
  title: 'ExtensionLicense',
  description: 'Null if no license was issued yet',
  required: ['id', 'siteId', 'licenseKey', 'issuedAt', 'revokedAt'],
  properties: {
    id: Type.Integer(),
    siteId: Type.Integer(),
    licenseKey: Type.String({ examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b'] }),
    issuedAt: Type.Integer({ description: 'Unix time', examples: [1769852000] }),
    revokedAt: nullable(Type.Integer({ description: 'Unix time', examples: [null] })),
  },
})

interface PresentedLicense {
  id: number
  siteId: number
  licenseKey: string
  issuedAt: number
  revokedAt: number | null
}

/** Returns the extension license as the API shows it, with times in seconds. */
export function presentLicense({ issuedAt, revokedAt, ...license }: License): PresentedLicense {
  return { ...license, issuedAt: seconds(issuedAt), revokedAt: revokedAt === null ? null : seconds(revokedAt) }
}

const seconds = (ms: number): number => Math.floor(ms / 1000)
