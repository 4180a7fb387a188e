import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import PostalMime from 'postal-mime'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { budgetOf } from '../../../test/support/budget.ts'
import { mailServer } from '../../../test/support/mail-server.ts'
import type { LogRecord, LogStore } from '../../platform/log-store/log-store.ts'
import { Hourly } from './hourly.ts'
import { MailSender } from './mail-sender.ts'
import { SiteOutbox } from './outbox.ts'
import { MailQueue, type WaitingMail } from './queue.ts'
import { openSiteMail, type SiteMail, type SiteMailOptions } from './site-mail.ts'
import type { MailDelivery } from './smtp-delivery.ts'

const HOUR_MS = 3600_000
const noLog = { warn() {}, error() {} }
let dataDir: string
const ends: (() => unknown)[] = []
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'stead-site-mail-'))
})
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
  await rm(dataDir, { recursive: true })
})

async function until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`in vain: ${what}`)
    await turn()
  }
}

async function opened(change: Partial<SiteMailOptions> = {}) {
  const told: LogRecord[] = []
  const logs = {
    append: async (_kind: string, records: LogRecord[]) => void told.push(...records),
  } as unknown as LogStore
  const mail = await openSiteMail({
    dataDir,
    smtpUrl: undefined,
    dkim: undefined,
    perHour: { each: 100, all: 1000 },
    siteById: async (siteId) => (siteId < 100 ? { siteId, names: [`s${siteId}.example`], isSent: true } : undefined),
    disk: budgetOf(),
    room: { hasRoomForRecords: true },
    logs,
    log: noLog,
    ...change,
  })
  ends.push(() => mail.stop(1000))
  return { mail, told }
}

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')
const first = (change: object = {}) => ({
  ask: 'mail',
  bytes: 4,
  to: base64('to@example.com'),
  subject: base64('Hello'),
  headers: '',
  data: base64('text'),
  last: true,
  ...change,
})
const ask = async (mail: SiteMail, siteId: number, said: object) =>
  JSON.parse(await mail.ask(siteId, JSON.stringify(said)))
const taken = { ok: true }
const queued = async () => (await readdir(join(dataDir, 'mail-queue'))).filter((name) => name.endsWith('.json'))
const kept = async (siteId = 1) => readdir(join(dataDir, 'outbox', String(siteId))).catch(() => [])
const files = async (siteId = 1) => (await kept(siteId)).filter((name) => name.endsWith('.eml'))

describe('input from PHP', () => {
  it('arrives in pieces, and gets correct line ends wherever a piece ends', async () => {
    const { mail } = await opened()
    expect(await ask(mail, 1, first({ data: base64('one\ntwo\r'), last: false }))).toEqual(taken)
    expect(await ask(mail, 1, { ask: 'mail-data', data: base64('\nthree\r\rfour'), last: false })).toEqual(taken)
    expect(await ask(mail, 1, { ask: 'mail-data', data: base64('\n.\nfive\r'), last: true })).toEqual(taken)
    await until('the file', async () => (await files()).length === 1)
    const text = await readFile(join(dataDir, 'outbox/1', (await files())[0] as string), 'utf8')
    expect(text.split('\r\n\r\n').slice(1).join('\r\n\r\n')).toBe('one\r\ntwo\r\nthree\r\n\r\nfour\r\n.\r\nfive\r\n')
  })

  it('gets no answer if it is not a mail', async () => {
    const { mail } = await opened()
    expect(await mail.ask(1, '{"ask":"time"}')).toBe('')
  })

  it.each([
    ['no JSON', '{"ask":"mail'],
    ['fields of other types', JSON.stringify(first({ bytes: '4' }))],
    ['what is not base64', JSON.stringify(first({ data: '\u0000' }))],
    ['a piece of nothing', JSON.stringify({ ask: 'mail-data', data: '', last: true })],
    ['a mail over 25 MB', JSON.stringify(first({ bytes: (25 << 20) + 1 }))],
    ['a header by a line break', JSON.stringify(first({ subject: base64('a\nBcc: b@example.com') }))],
  ])('is refused with a reason, and leaves nothing: %s', async (_what, text) => {
    const { mail } = await opened()
    const answer = JSON.parse(await mail.ask(1, text))
    expect(answer).toMatchObject({ ok: false, say: true })
    expect(answer.why).not.toBe('the host could not take it')
    expect(await readdir(join(dataDir, 'mail-queue'))).toEqual([])
    expect(mail.metrics()).toMatchObject({ taken: 0, refused: 1 })
  })

  it('is refused at 25 MB when it grows beyond the announced size, and releases its budget', async () => {
    const disk = budgetOf()
    const { mail } = await opened({ disk })
    const data = base64(Buffer.alloc(3 << 20, 'x'))
    let answer = await ask(mail, 1, first({ data, last: false }))
    for (let pieces = 1; answer.ok; pieces++) {
      expect(pieces).toBeLessThan(10)
      answer = await ask(mail, 1, { ask: 'mail-data', data, last: false })
    }
    expect(answer.why).toContain('larger than it said')
    expect(disk.used).toBe(0)
    expect(await readdir(join(dataDir, 'mail-queue'))).toEqual([])
  })

  it('is dropped if it stays unfinished until the next mail or the end of the host', async () => {
    const disk = budgetOf()
    const { mail } = await opened({ disk })
    await ask(mail, 1, first({ last: false }))
    await ask(mail, 1, first({ last: false }))
    expect((await readdir(join(dataDir, 'mail-queue'))).length).toBe(1)
    await mail.stop(0)
    expect(await readdir(join(dataDir, 'mail-queue'))).toEqual([])
    expect(disk.used).toBe(0)
  })

  it('may have forty unfinished mails for a site, and loses the oldest with one more', async () => {
    const disk = budgetOf()
    const { mail } = await opened({ disk })
    const key = (number: number) => number.toString(16)
    const begin = async (number: number) => ask(mail, 1, first({ key: key(number), last: false }))
    for (let number = 0; number < 40; number++) expect(await begin(number)).toEqual(taken)
    const full = disk.used
    expect(await begin(40)).toEqual(taken)
    expect([disk.used, (await readdir(join(dataDir, 'mail-queue'))).length]).toEqual([full, 40])
    const next = (number: number) => ask(mail, 1, { ask: 'mail-data', data: '', last: true, key: key(number) })
    expect(await next(0)).toMatchObject({ ok: false, why: 'its beginning is missing' })
    expect(await next(1)).toEqual(taken)
  })

  it('is refused for a site that does not exist, or when the disk is full', async () => {
    const { mail } = await opened()
    expect(await ask(mail, 100, first())).toMatchObject({ ok: false, why: 'the site is not there' })
    const full = await opened({ room: { hasRoomForRecords: false } })
    expect(await ask(full.mail, 1, first())).toMatchObject({ ok: false, why: expect.stringContaining('disk') })
  })
})

describe('limits', () => {
  it('count each recipient, and refuse a site above its limit with one log message', async () => {
    const { mail } = await opened({ perHour: { each: 3, all: 100 } })
    expect(await ask(mail, 1, first({ headers: base64('Cc: b@example.com\nBcc: c@example.com') }))).toEqual(taken)
    const why = expect.stringContaining('STEAD_SITE_MAILS_PER_HOUR')
    expect(await ask(mail, 1, first())).toEqual({ ok: false, why, say: true })
    expect(await ask(mail, 1, first())).toEqual({ ok: false, why, say: false })
    expect(await ask(mail, 2, first())).toEqual(taken)
  })

  it('apply to all sites together, too', async () => {
    const { mail } = await opened({ perHour: { each: 3, all: 2 } })
    expect(await ask(mail, 1, first())).toEqual(taken)
    expect(await ask(mail, 2, first())).toEqual(taken)
    expect(await ask(mail, 3, first())).toMatchObject({ ok: false, why: expect.stringContaining('all sites') })
  })

  it('leave room again an hour later', () => {
    let now = 0
    const hourly = new Hourly({ each: 2, all: 3 }, () => now)
    expect([hourly.take(1, 2), hourly.take(1, 1), hourly.take(2, 1), hourly.take(3, 1)]).toEqual([
      undefined,
      'each',
      undefined,
      'all',
    ])
    now = HOUR_MS - 1
    expect(hourly.take(1, 1)).toBe('each')
    now = HOUR_MS
    expect([hourly.take(1, 2), hourly.take(1, 1), hourly.take(2, 1)]).toEqual([undefined, 'each', undefined])
  })

  it('count waiting mails, even small ones, until they are sent', async () => {
    const disk = budgetOf(1 << 20, 20_000)
    const { mail } = await opened({ disk, smtpUrl: 'smtp://127.0.0.1:1' })
    expect(await ask(mail, 1, first())).toEqual(taken)
    expect(await ask(mail, 1, first())).toEqual(taken)
    const why = expect.stringContaining('of all sites, are waiting')
    expect(await ask(mail, 1, first())).toEqual({ ok: false, why, say: true })
    expect(await ask(mail, 2, first())).toEqual(taken)
    expect(mail.metrics().waiting).toBe(3)
    await mail.stop(1000)
    const again = budgetOf(1 << 20, 20_000)
    await opened({ disk: again, smtpUrl: 'smtp://127.0.0.1:1' })
    expect(again.used).toBe(disk.used)
  })

  it('keep the newest mails of a site in the outbox, and none for longer than 30 days', async () => {
    const outbox = new SiteOutbox(join(dataDir, 'outbox'))
    const file = join(dataDir, 'mail')
    await writeFile(file, 'x')
    const at = Date.parse('2026-05-06T07:08:09.000Z')
    for (let n = 0; n < 203; n++) await outbox.keep({ id: `1-${n}`, siteId: 1, takenAt: at + n }, file)
    const names = (await files()).toSorted()
    expect([names.length, names[0]]).toEqual([200, '2026-05-06T07-08-09.003Z-1-3.eml'])
    const large = join(dataDir, 'large')
    await writeFile(large, Buffer.alloc(33 << 20))
    for (let n = 0; n < 3; n++) await outbox.keep({ id: `2-${n}`, siteId: 2, takenAt: at + n }, large)
    expect((await files(2)).length).toBe(1)
    await writeFile(join(dataDir, 'outbox/own.eml'), '')
    const old = new Date(at - 31 * 24 * HOUR_MS)
    for (const name of await kept(2)) await utimes(join(dataDir, 'outbox/2', name), old, old)
    await outbox.sweep(at)
    expect((await readdir(join(dataDir, 'outbox'))).toSorted()).toEqual(['1', 'own.eml'])
  })
})

describe('delivery', () => {
  const serve = async (options?: Parameters<typeof mailServer>[0]) => {
    const server = await mailServer(options)
    ends.push(server.close)
    return { ...server, url: `smtp://127.0.0.1:${server.port}` }
  }

  it('signs a mail with the configured key', async () => {
    const { generateKeyPairSync } = await import('node:crypto')
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const dkim = {
      domainName: 's1.example',
      keySelector: 'stead',
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    }
    const server = await serve()
    const { mail } = await opened({ smtpUrl: server.url, dkim })
    await ask(mail, 1, first())
    await until('the mail', () => server.received.length === 1)
    expect(server.received[0]?.raw.replace(/\r\n\s+/g, ' ')).toMatch(
      /^DKIM-Signature: v=1;.* d=s1\.example;.* s=stead;/,
    )
  })

  it('continues with waiting mails after a restart, and drops incomplete ones', async () => {
    const { mail } = await opened({ smtpUrl: 'smtp://127.0.0.1:1' })
    await ask(mail, 1, first())
    await until('a failed attempt', async () => {
      const [name] = await queued()
      return name !== undefined && JSON.parse(await readFile(join(dataDir, 'mail-queue', name), 'utf8')).attempts === 1
    })
    await mail.stop(1000)
    for (const name of ['2-half.eml', '3-gone.json', 'message.1'])
      await writeFile(join(dataDir, 'mail-queue', name), '{}')
    await opened()
    await until('it is kept', async () => (await files()).length === 1)
    await until('nothing is left', async () => (await readdir(join(dataDir, 'mail-queue'))).length === 0)
  })

  it('keeps the mails of a site that does not send to people, with or without a mail server', async () => {
    const server = await serve()
    const siteById = async (siteId: number) => ({ siteId, names: ['x.example'], isSent: siteId !== 1 })
    const { mail } = await opened({ smtpUrl: server.url, siteById })
    await ask(mail, 1, first())
    await ask(mail, 2, first())
    await until('both', async () => server.received.length === 1 && (await files()).length === 1)
    expect(server.received[0]?.from).toBe('wordpress@x.example')
    expect(
      await PostalMime.parse(await readFile(join(dataDir, 'outbox/1', (await files())[0] as string))),
    ).toMatchObject({
      subject: 'Hello',
      to: [{ address: 'to@example.com' }],
    })
  })

  it.each([550, 553])(
    'fails at once for all recipients when the server refuses a mail as a whole (%i)',
    async (responseCode) => {
      let attempts = 0
      const server = await serve({
        onMailFrom(_address, _session, done) {
          attempts++
          done(Object.assign(new Error('not from you'), { responseCode }))
        },
      })
      const { mail, told } = await opened({ smtpUrl: server.url })
      await ask(mail, 1, first({ headers: base64('Cc: b@example.com') }))
      await until('it has failed', () => mail.metrics().waiting === 0)
      expect(attempts).toBe(1)
      expect(mail.metrics()).toMatchObject({ sent: 0, failed: 2 })
      const messages = told.map(({ body }) => JSON.parse(body)[0])
      expect(messages).toEqual(
        ['to@example.com', 'b@example.com'].map((to) =>
          expect.stringMatching(new RegExp(`to ${to} failed: .*not from you`)),
        ),
      )
    },
  )
})

describe('the sender', () => {
  const mailOf = (siteId: number, n: number, change: Partial<WaitingMail> = {}): WaitingMail => ({
    id: `${siteId}-${n}`,
    siteId,
    envelope: { from: 'a@b.example', to: ['x@example.com', 'y@example.com'] },
    bytes: 1,
    takenAt: Date.now(),
    isKept: false,
    attempts: 0,
    notBefore: 0,
    ...change,
  })
  async function sending(send: MailDelivery['send']) {
    const queue = new MailQueue(join(dataDir, 'mail-queue'))
    await queue.open()
    const failed: string[] = []
    const sender = new MailSender({
      queue,
      delivery: { send, close() {} },
      outbox: new SiteOutbox(join(dataDir, 'outbox')),
      disk: budgetOf(),
      onFailed: async ({ id }, refused) => void failed.push(...refused.map(({ address }) => `${id} ${address}`)),
      log: noLog,
      firstMs: 1,
    })
    ends.push(() => sender.stop(1000))
    return { sender, failed, empty: () => until('nothing waits', () => sender.waiting === 0) }
  }

  it('retries only for the recipients that may accept later, until they do or two days are over', async () => {
    const asked: string[] = []
    const { sender, failed, empty } = await sending(async ({ id, envelope }) => {
      asked.push(`${id} ${envelope.to}`)
      const later = asked.length < 3 || id === '1-2'
      return later ? [{ address: 'y@example.com', why: 'later', isFinal: false }] : []
    })
    sender.resume([mailOf(1, 1)])
    await empty()
    expect(asked).toEqual(['1-1 x@example.com,y@example.com', '1-1 y@example.com', '1-1 y@example.com'])
    expect([failed, sender.counts.sent]).toEqual([[], 2])
    sender.resume([mailOf(1, 2, { takenAt: Date.now() - 48 * HOUR_MS })])
    await empty()
    expect(failed).toEqual(['1-2 y@example.com'])
  })

  it('retries for all recipients when the mail server is unavailable', async () => {
    let calls = 0
    const { sender, failed, empty } = await sending(async () => {
      if (calls++ < 2) throw new Error('ECONNREFUSED')
      return []
    })
    sender.resume([mailOf(1, 1)])
    await empty()
    expect([calls, failed, sender.counts.sent]).toEqual([3, [], 1])
  })

  it("takes turns, so that one site's many mails do not delay those of others", async () => {
    const order: number[] = []
    const gate = Promise.withResolvers<void>()
    let most = 0
    let atOnce = 0
    const { sender, empty } = await sending(async ({ siteId }) => {
      most = Math.max(most, ++atOnce)
      await gate.promise
      order.push(siteId)
      atOnce--
      return []
    })
    sender.resume([
      ...Array.from({ length: 20 }, (_, n) => mailOf(1, n)),
      ...[2, 3, 4, 5, 6].map((siteId) => mailOf(siteId, 0)),
    ])
    gate.resolve()
    await empty()
    expect(most).toBe(4)
    expect(order.slice(0, 8)).toEqual(expect.arrayContaining([2, 3, 4, 5, 6]))
  })

  it('does not wait for years after the clock was set back', async () => {
    const { sender, empty } = await sending(async () => [])
    sender.take(mailOf(1, 1, { notBefore: Date.now() + 400 * 24 * HOUR_MS }))
    await empty()
  })
})
