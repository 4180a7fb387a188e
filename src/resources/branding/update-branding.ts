import Type from 'typebox'
import { lockForUpdate } from '../../platform/db/database.ts'
import { invalidInput } from '../../platform/http/problem.ts'
import { nullable } from '../../platform/http/schemas.ts'
import { isMailAddress } from '../../platform/mail/mail-address.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'
import { MOST_LOGO_BYTES, MOST_LOGO_PIXELS, readLogo } from './agency-logo.ts'
import { changeBranding, findBranding } from './branding.store.ts'
import { BrandingSchema, brandingFields, presentBranding } from './branding.ts'
import type { AccountBrandingRow } from './tables.ts'

/** The most characters of a logo in Base64. */
const MOST_LOGO = Math.ceil(MOST_LOGO_BYTES / 3) * 4

export const updateBranding = endpoint({
  id: 'updateBranding',
  method: 'PUT',
  path: '/v1/account/branding',
  summary: 'Update the branding of your account',
  description: 'An addition of Stead. Send at least one field. Null restores the default.',
  access: { account: 'own' },
  body: Type.Object(
    {
      name: Type.Optional(brandingFields.name),
      color: Type.Optional(brandingFields.color),
      reply_to: Type.Optional(brandingFields.reply_to),
      logo: Type.Optional(
        nullable(
          Type.String({
            minLength: 1,
            maxLength: MOST_LOGO,
            description: `PNG, JPEG, or WebP in Base64, at most ${MOST_LOGO_BYTES / 1000} kB and ${MOST_LOGO_PIXELS} pixels wide and high`,
            examples: ['iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGPgL8sDAAGLAPQ8xSAqAAAAAElFTkSuQmCC'],
          }),
        ),
      ),
    },
    { title: 'BrandingUpdate' },
  ),
  response: BrandingSchema,

  async handle(context, { body }) {
    const { tx, caller, now } = context
    const { name, color, reply_to: replyTo, logo } = body
    if ([name, color, replyTo, logo].every((each) => each === undefined))
      throw invalidInput(['Send at least one of name, color, reply_to, logo'])
    await lockForUpdate(tx, 'accounts', caller.accountId)
    const changes = {
      ...(name !== undefined && { name: name && plainName(name) }),
      ...(color !== undefined && { color: color?.toLowerCase() ?? null }),
      ...(replyTo !== undefined && { reply_to: replyTo && addressOf(replyTo) }),
      ...(logo !== undefined && logoOf(logo)),
    }
    await changeBranding(tx, caller.accountId, changes, now)
    await context.record({ action: actions['branding.changed'], message: 'Changed what your clients see' })
    return presentBranding(await findBranding(tx, caller.accountId))
  },
})

function plainName(name: string): string {
  const trimmed = name.trim()
  if (trimmed === '' || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(trimmed))
    throw invalidInput(['name: must have visible characters, and no line breaks'])
  // Mails have it as the name of their sender. Many mail programs show only that, so it must not look like an address.
  if (/[@<>\u202a-\u202e\u2066-\u2069]/u.test(trimmed))
    throw invalidInput(['name: must not contain @, <, > or characters that reverse text'])
  return trimmed
}

function addressOf(text: string): string {
  if (!isMailAddress(text)) throw invalidInput(['reply_to: must be a valid email'])
  return text
}

function logoOf(text: string | null): Pick<AccountBrandingRow, 'logo' | 'logo_type' | 'logo_width' | 'logo_height'> {
  if (text === null) return { logo: null, logo_type: null, logo_width: null, logo_height: null }
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw invalidInput(['logo: must be Base64'])
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length > MOST_LOGO_BYTES) throw invalidInput([`logo: must have at most ${MOST_LOGO_BYTES / 1000} kB`])
  const found = readLogo(bytes)
  if (!found) throw invalidInput(['logo: must be a PNG, JPEG, or WebP picture'])
  if (Math.max(found.width, found.height) > MOST_LOGO_PIXELS)
    throw invalidInput([`logo: must be at most ${MOST_LOGO_PIXELS} pixels wide and high`])
  const { type, width, height } = found
  return { logo: bytes.toString('base64'), logo_type: type, logo_width: width, logo_height: height }
}
