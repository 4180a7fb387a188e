import Type from 'typebox'
import { HEX_COLOR } from '../../colors.ts'
import { nullable } from '../../platform/http/schemas.ts'
import type { AccountBrandingRow } from './tables.ts'

/** What an account shows to its clients. Null: it has chosen nothing. */
export interface Branding {
  readonly name: string | null
  /** `#rrggbb` */
  readonly color: string | null
  /** An address that begins with `data:image/`. */
  readonly logo: string | null
  readonly replyTo: string | null
}

/** What people who work with an account see of it in the control panel. */
export interface Brand {
  readonly name: string
  /** `#rrggbb` */
  readonly color: string | null
  readonly logo: { readonly version: number; readonly width: number | null; readonly height: number | null } | null
}

export const noBranding: Branding = { name: null, color: null, logo: null, replyTo: null }

export const MOST_NAME = 100

export const brandingFields = {
  name: nullable(
    Type.String({
      minLength: 1,
      maxLength: MOST_NAME,
      description: 'Name of the agency. Null: the name of the account',
      examples: ['Northlight Studio'],
    }),
  ),
  color: nullable(
    Type.String({
      pattern: HEX_COLOR,
      description: 'Accent color. Stead writes on it in black or white, whichever is easier to read',
      examples: ['#0f766e'],
    }),
  ),
  reply_to: nullable(
    Type.String({
      maxLength: 254,
      description: 'Mail address to which clients reply',
      examples: ['hello@northlight.example'],
    }),
  ),
}

export const LOGO_PATH = '/v1/account/branding/logo'
export const BRAND_LOGO_PATH = '/v1/session/brand/logo'

export const BrandingSchema = Type.Object(
  {
    ...brandingFields,
    logo_location: nullable(
      Type.String({ description: 'Path of the logo. It requires the same token', examples: [LOGO_PATH] }),
    ),
  },
  { title: 'Branding' },
)

export const presentBranding = (row: AccountBrandingRow | undefined): Type.Static<typeof BrandingSchema> => ({
  name: row?.name ?? null,
  color: row?.color ?? null,
  reply_to: row?.reply_to ?? null,
  logo_location: row?.logo ? LOGO_PATH : null,
})

export const BrandSchema = Type.Object(
  {
    name: Type.String({ examples: ['Northlight Studio'] }),
    color: nullable(Type.String({ pattern: HEX_COLOR, description: 'Accent color', examples: ['#0f766e'] })),
    logo: nullable(
      Type.Object(
        {
          location: Type.String({
            description: 'Path of the logo. It changes with the logo',
            examples: [`${BRAND_LOGO_PATH}?version=1`],
          }),
          width: nullable(Type.Integer({ description: 'Pixels. Null: unknown', examples: [300] })),
          height: nullable(Type.Integer({ description: 'Pixels. Null: unknown', examples: [80] })),
        },
        { title: 'BrandLogo' },
      ),
    ),
  },
  {
    title: 'Brand',
    description: 'What the control panel shows in the place of its own name, logo, and color. Null: nothing',
  },
)

export const presentBrand = ({ name, color, logo }: Brand): Type.Static<typeof BrandSchema> => ({
  ...{ name, color },
  logo: logo && {
    location: `${BRAND_LOGO_PATH}?version=${logo.version}`,
    ...{ width: logo.width, height: logo.height },
  },
})
