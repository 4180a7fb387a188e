import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { MOST_LOGO_BYTES, readLogo } from './agency-logo.ts'
import { pngOf, smallPng } from './branding.fixture.ts'
import { brandingOf } from './branding.store.ts'
import { contrast, readableOnWhite, textOn } from './color.ts'

describe('colors', () => {
  it('writes on every color in the shade with enough contrast', () => {
    for (const color of ['#ffffff', '#ffff00', '#ff7a00', '#767676', '#0f766e', '#1f4fd8', '#000000', '#ff00ff'])
      expect(contrast(color, textOn(color)), color).toBeGreaterThanOrEqual(4.5)
    expect(textOn('#ffff00')).toBe('#111318')
    expect(textOn('#0f766e')).toBe('#ffffff')
  })

  it('darkens a light color until it can be read on white, and leaves others alone', () => {
    expect(readableOnWhite('#0f766e')).toBe('#0f766e')
    for (const color of ['#ffff00', '#ffffff', '#ff7a00'])
      expect(contrast(readableOnWhite(color), '#ffffff'), color).toBeGreaterThanOrEqual(4.5)
  })
})

describe('logos', () => {
  const webp = (form: string, rest: (bytes: Buffer) => unknown) => {
    const bytes = Buffer.alloc(40)
    bytes.write(`RIFF....WEBP${form}`, 'latin1')
    rest(bytes)
    return bytes
  }

  test.each([
    ['png', Buffer.from(pngOf(300, 80), 'base64'), 'image/png'],
    ['webp, lossy', webp('VP8 ', (bytes) => [bytes.writeUInt16LE(300, 26), bytes.writeUInt16LE(80, 28)]), 'image/webp'],
    ['webp, lossless', webp('VP8L', (bytes) => bytes.writeUInt32LE(299 | (79 << 14), 21)), 'image/webp'],
    [
      'webp, extended',
      webp('VP8X', (bytes) => [bytes.writeUIntLE(299, 24, 3), bytes.writeUIntLE(79, 27, 3)]),
      'image/webp',
    ],
    ['jpeg', Buffer.from('ffd8ffe000040000ffc0000b0800500' + '12c0311000000', 'hex'), 'image/jpeg'],
  ])('reads the size of %s', (_form, bytes, type) => {
    expect(readLogo(bytes)).toEqual({ type, width: 300, height: 80 })
  })

  test.each([
    ['svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ['gif', Buffer.from('GIF89a\x01\x00\x01\x00', 'latin1')],
    ['html behind the first bytes of JPEG', Buffer.from('\xff\xd8<html>', 'latin1')],
    ['nothing', Buffer.alloc(0)],
    ['the beginning of PNG only', Buffer.from(smallPng, 'base64').subarray(0, 20)],
    ['a PNG without width', Buffer.from(pngOf(0, 80), 'base64')],
  ])('refuses %s', (_what, bytes) => {
    expect(readLogo(bytes)).toBeUndefined()
  })
})

describe.each(dialects)('branding on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterEach(() => api?.close())

  const put = async (body: object) => owner.call('PUT', '/v1/account/branding', body)
  const get = async () => (await owner.call('GET', '/v1/account/branding')).body.data
  const nothing = { name: null, color: null, reply_to: null, logo_location: null }

  it('changes the given fields, keeps the others, and restores the default', async () => {
    expect(await get()).toEqual(nothing)
    await put({ name: ' Northlight ', color: '#0F766E', logo: smallPng })
    await put({ reply_to: 'hello@example.com' })
    const all = { name: 'Northlight', color: '#0f766e', reply_to: 'hello@example.com' }
    expect(await get()).toEqual({ ...all, logo_location: '/v1/account/branding/logo' })
    expect(await brandingOf(api.database.read, owner.accountId)).toMatchObject({
      logo: `data:image/png;base64,${smallPng}`,
    })
    const logo = await owner.call('GET', '/v1/account/branding/logo')
    expect(logo.headers).toMatchObject({ 'content-type': 'image/png', 'x-content-type-options': 'nosniff' })
    await put({ name: null, color: null, reply_to: null, logo: null })
    expect(await get()).toEqual(nothing)
    expect((await owner.call('GET', '/v1/account/branding/logo')).body).toMatchObject({ code: 'no_logo' })
  })

  it('refuses what it cannot show, and changes nothing', async () => {
    await put({ name: 'Northlight' })
    const svg = Buffer.from('<svg/>').toString('base64')
    for (const [body, error] of [
      [{}, 'Send at least one of name, color, reply_to, logo'],
      [{ name: '  ' }, 'name: must have visible characters, and no line breaks'],
      [{ name: 'a\nb' }, 'name: must have visible characters, and no line breaks'],
      [{ color: 'red' }, expect.stringContaining('color')],
      [{ reply_to: 'nobody' }, 'reply_to: must be a valid email'],
      [{ logo: svg }, 'logo: must be a PNG, JPEG, or WebP picture'],
      [{ logo: 'data:image/png;base64,' }, 'logo: must be Base64'],
      [{ logo: pngOf(1, 1, MOST_LOGO_BYTES) }, expect.stringContaining('logo')],
      [{ logo: pngOf(4001, 1) }, 'logo: must be at most 4000 pixels wide and high'],
    ] as const) {
      const { status, body: answer } = await put({
        ...body,
        ...('name' in body ? {} : Object.keys(body).length > 0 && { name: 'Other' }),
      })
      expect([status, answer.errors], JSON.stringify(body).slice(0, 100)).toEqual([400, [error]])
    }
    expect(await get()).toEqual({ ...nothing, name: 'Northlight' })
  })

  it('belongs to one account', async () => {
    await put({ name: 'Northlight' })
    const other = await api.person('other@example.com')
    expect((await other.call('GET', '/v1/account/branding')).body.data).toEqual(nothing)
  })
})
