import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import type { SMTPServerOptions } from 'smtp-server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { mailServer, type Received } from '../../../test/support/mail-server.ts'
import { noLog } from '../log/log.ts'
import { ended, startWorker } from '../operations/harness.ts'
import { html, mailPage } from './html.ts'
import { letter } from './letter.ts'
import { isOneMailbox } from './mail-address.ts'
import { createMailer, type Mailer, smtpOptions } from './mailer.ts'
import { enqueueMail, type Mail, sendMail } from './send-mail.job.ts'

const quick = { ...sendMail, backoff: { firstMs: 1, mostMs: 1 } }

const now = Date.parse('2026-05-06T07:08:09.123Z')
const greeting: Mail = {
  to: 'zoë+a/b@example.com'.replace('ë', 'e'),
  subject: 'Grüße – 今日は',
  text: 'Schöne Grüße\n.\n今日は',
  html: mailPage('Grüße', html`<p>${'<script>alert("x")</script> & Schöne Grüße'}</p>`),
}

test('refuses addresses that are more than one mailbox, or would end a header', () => {
  for (const good of ['a@b.example', "o'neil+x/y=z@example.com", 'ü@example.com', 'a@localhost'])
    expect(isOneMailbox(good), good).toBe(true)
  const bad = [
    '',
    'a',
    'a@',
    '@b',
    'a@b@c',
    'a@b,c@d',
    'a@b c@d',
    '<a@b>',
    'a@b\r\nBcc: c@d',
    '"a\r\nb"@c',
    'a\u0000@b',
  ]
  for (const each of [...bad, `${'a'.repeat(250)}@b.example`]) expect(isOneMailbox(each), each).toBe(false)
})

test('escapes values inserted into HTML, except HTML itself', () => {
  const rows = ['a<b', "c'd"].map((text) => html`<li>${text}</li>`)
  expect(html`<ul title="${'"'}">${rows}</ul>${1}`.html).toBe(
    '<ul title="&quot;"><li>a&lt;b</li><li>c&#39;d</li></ul>1',
  )
})

test('sends a password to other machines only encrypted, and checks their certificates', () => {
  const safe = { requireTLS: true, tls: { rejectUnauthorized: true } }
  expect(smtpOptions('smtp://user:password@mail.example.com:587')).toMatchObject(safe)
  expect(smtpOptions('smtp://u:p@127.0.0.1.example.com')).toMatchObject(safe)
  expect(smtpOptions('smtp://mail.example.com')).toMatchObject({ ...safe, requireTLS: false })
  expect(smtpOptions('smtp://u:p@localhost')).toMatchObject({ requireTLS: false, tls: { rejectUnauthorized: false } })
})

const panelUrl = 'https://panel.example'

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`mail on ${dialect}`, () => {
    let made: TestDatabase
    let outboxDir: string
    const ends: (() => unknown)[] = []
    beforeEach(async () => {
      made = await testDatabase(dialect)
      outboxDir = join(await mkdtemp(join(tmpdir(), 'stead-mail-')), 'outbox')
    })
    afterEach(async () => {
      for (const end of ends.splice(0).reverse()) await end()
      await made.drop()
      await rm(join(outboxDir, '..'), { recursive: true })
    })
    const serve = async (options?: SMTPServerOptions) => {
      const server = await mailServer(options)
      ends.push(server.close)
      return server
    }
    const work = (smtpUrl: string | undefined, definition: typeof sendMail = quick) => {
      const from = 'Stëad <stead@hosting.example>'
      const mailer: Mailer = createMailer({ smtpUrl, from, outboxDir, panelUrl })
      const worker = startWorker(made.database, [definition], { services: { mailer }, log: noLog })
      ends.push(
        () => worker.stop(1000),
        () => mailer.close(),
      )
    }
    const send = (mail: Mail) => made.database.transaction((tx) => enqueueMail(tx, mail, { now }))

    test('delivers a mail in both forms and every script, marked as automatic', async () => {
      const server = await serve()
      work(`smtp://127.0.0.1:${server.port}`)
      const operation = await ended(made.database, await send(greeting))
      expect(operation).toMatchObject({ state: 'succeeded', error: null })
      const [{ email, recipients }] = server.received as [Received]
      expect(recipients).toEqual([greeting.to])
      expect(email).toMatchObject({
        subject: greeting.subject,
        from: { name: 'Stëad', address: 'stead@hosting.example' },
        to: [{ address: greeting.to }],
        date: new Date(now).toISOString().replace('.123', '.000'),
      })
      expect(email.text?.trim()).toBe(greeting.text)
      expect(email.html).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; Schöne Grüße')
      expect(email.headers).toContainEqual(expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }))
      expect(email.messageId).toMatch(new RegExp(`^<${operation.id}\\.[\\w-]+@hosting\\.example>$`))
    })

    test('links a page of the panel with the URL that the control process knows', async () => {
      const server = await serve()
      work(`smtp://127.0.0.1:${server.port}`)
      const mail = letter('Restored', ['Open the backups:', { panel: '/sites/7/backups' }])
      await ended(made.database, await send({ to: greeting.to, ...mail }))
      const [{ email }] = server.received as [Received]
      expect(email.text?.trim()).toBe('Open the backups:\n\nhttps://panel.example/#/sites/7/backups')
      expect(email.html).toContain('<a href="https://panel.example/#/sites/7/backups">')
    })

    test('has the name, color and reply address of an account on whose behalf it is sent', async () => {
      const server = await serve()
      work(`smtp://127.0.0.1:${server.port}`)
      const brand = { name: 'North & "light"', color: '#0f766e', replyTo: 'hello@agency.example' }
      await ended(made.database, await send({ to: greeting.to, ...letter('Hello', ['Text'], brand) }))
      await ended(made.database, await send({ to: greeting.to, ...letter('Hello', ['Text']) }))
      const [{ email }, usual] = server.received as [Received, Received]
      expect(email.from).toEqual({ name: brand.name, address: 'stead@hosting.example' })
      expect(email.replyTo).toEqual([{ address: brand.replyTo, name: '' }])
      expect(email.html).toContain('color:#0f766e">North &amp; &quot;light&quot;</p>')
      expect([usual.email.from?.name, usual.email.replyTo]).toEqual(['Stëad', undefined])
    })

    test('retries a server that refuses temporarily, with the same mail', async () => {
      let refusals = 0
      const raws: string[] = []
      const server = await serve({
        onData(stream, _session, done) {
          let raw = ''
          stream.on('data', (chunk) => {
            raw += chunk
          })
          stream.on('end', () => {
            raws.push(raw)
            const later = Object.assign(new Error('come back later'), { responseCode: 451 })
            done(refusals++ < 2 ? later : null)
          })
        },
      })
      work(`smtp://127.0.0.1:${server.port}`)
      const { state, steps } = await ended(made.database, await send(greeting))
      expect(state).toBe('succeeded')
      expect(steps[0]).toMatchObject({ name: 'deliver', state: 'succeeded' })
      expect(raws).toHaveLength(3)
      expect(new Set(raws).size).toBe(1)
    })

    test('retries an unreachable server', async () => {
      const gone = await mailServer()
      await gone.close()
      work(`smtp://127.0.0.1:${gone.port}`, { ...quick, attempts: 2 })
      const { state, error } = await ended(made.database, await send(greeting))
      expect(state).toBe('failed')
      expect(error).toContain('ECONNREFUSED')
    })

    test('fails at once if the mailbox does not exist', async () => {
      let asked = 0
      const server = await serve({
        onRcptTo(_address, _session, done) {
          asked++
          done(Object.assign(new Error('no such mailbox'), { responseCode: 550 }))
        },
      })
      work(`smtp://127.0.0.1:${server.port}`)
      const { state, error } = await ended(made.database, await send(greeting))
      expect({ state, asked }).toEqual({ state: 'failed', asked: 1 })
      expect(error).toContain('no such mailbox')
    })

    test('logs in over TLS, with the password of the URL', async () => {
      const logins: string[] = []
      const server = await serve({
        authOptional: false,
        onAuth({ username, password }, { secure }, done) {
          logins.push(`${username} ${password} ${secure}`)
          done(password === 'p@ss:w/ö' ? null : new Error('wrong'), { user: 1 })
        },
      })
      work(`smtp://user:${encodeURIComponent('p@ss:w/ö')}@127.0.0.1:${server.port}?requireTLS=true`)
      expect(await ended(made.database, await send(greeting))).toMatchObject({ state: 'succeeded', error: null })
      expect(logins).toEqual(['user p@ss:w/ö true'])
    })

    test('retries after a wrong password, because the operator can correct it', async () => {
      let logins = 0
      const server = await serve({
        authOptional: false,
        onAuth(_login, _session, done) {
          logins++
          done(new Error('wrong'))
        },
      })
      work(`smtp://user:no@127.0.0.1:${server.port}`, { ...quick, attempts: 3 })
      expect(await ended(made.database, await send(greeting))).toMatchObject({ state: 'failed' })
      expect(logins).toBe(3)
    })

    test('refuses an untrusted certificate', async () => {
      const server = await serve({ secure: true })
      work(`smtps://127.0.0.1:${server.port}?tls.rejectUnauthorized=true`, { ...quick, attempts: 1 })
      const { state, error } = await ended(made.database, await send(greeting))
      expect(state).toBe('failed')
      expect(error).toMatch(/certificate|altnames/i)
      expect(server.received).toEqual([])
    })

    test('lets nothing in a mail create a header or a recipient', async () => {
      const server = await serve()
      work(`smtp://127.0.0.1:${server.port}`)
      const subject = 'Hello\r\nBcc: victim@example.com\r\n\r\nbody\u0000\u2028x'
      await ended(made.database, await send({ ...greeting, subject }))
      const [{ email, recipients }] = server.received as [Received]
      expect(recipients).toEqual([greeting.to])
      expect(email.bcc ?? []).toEqual([])
      expect(email.subject).toBe('Hello Bcc: victim@example.com body x')
      await expect(send({ ...greeting, to: 'a@b.example, victim@example.com' })).rejects.toThrow(TypeError)
      await expect(send({ ...greeting, to: 'a@b.example\r\nDATA' })).rejects.toThrow(TypeError)
    })

    test('stores each mail as a file without a mail server, readable by mail programs, in order of time', async () => {
      work(undefined)
      const first = await send(greeting)
      const second = await send({ ...greeting, subject: 'Second' })
      for (const id of [first, second]) await ended(made.database, id)
      const names = (await readdir(outboxDir)).sort()
      expect(names).toEqual([first, second].map((id) => `2026-05-06T07-08-09.123Z-${String(id).padStart(12, '0')}.eml`))
      const mails = await Promise.all(
        names.map(async (name) => PostalMime.parse(await readFile(join(outboxDir, name)))),
      )
      expect(mails.map(({ subject }) => subject)).toEqual([greeting.subject, 'Second'])
      expect(mails[0]?.text?.trim()).toBe(greeting.text)
      expect((await stat(join(outboxDir, names[0] as string))).mode & 0o777).toBe(0o600)
      expect((await stat(outboxDir)).mode & 0o777).toBe(0o700)
    })
  })
}

test('names another sender, where to reply, and attaches a file, and nothing in a name creates a header', async () => {
  const outboxDir = await mkdtemp(join(tmpdir(), 'stead-mail-'))
  const mailer = createMailer({ smtpUrl: undefined, from: 'Stead <stead@hosting.example>', outboxDir, panelUrl })
  const attachment = { name: 'report.pdf', type: 'application/pdf', content: Buffer.from('%PDF-1.7') } as const
  const named = { senderName: 'Nörth "Light" <x@y>\r\nBcc: victim@example.com', replyTo: 'hello@agency.example' }
  const message = { ...greeting, ...named, attachment, id: '8.x', operationId: 8, html: 'a', writtenAt: now }
  await mailer.deliver(message, new AbortController().signal)
  const [name] = await readdir(outboxDir)
  const mail = await PostalMime.parse(await readFile(join(outboxDir, name as string)))
  expect(mail.from).toMatchObject({ address: 'stead@hosting.example', name: expect.stringContaining('Nörth') })
  expect(mail.replyTo).toEqual([{ address: 'hello@agency.example', name: '' }])
  expect(mail.bcc ?? []).toEqual([])
  expect(mail.attachments).toMatchObject([{ filename: 'report.pdf', mimeType: 'application/pdf' }])
  expect(Buffer.from(mail.attachments[0]?.content as ArrayBuffer).toString()).toBe('%PDF-1.7')
  await rm(outboxDir, { recursive: true })
})

test('writes the same file if the same mail is stored again, for example after a crash', async () => {
  const outboxDir = await mkdtemp(join(tmpdir(), 'stead-mail-'))
  const mailer = createMailer({ smtpUrl: undefined, from: 'stead@localhost', outboxDir, panelUrl })
  const message = { ...greeting, id: '7.x', operationId: 7, html: greeting.html.html, writtenAt: now }
  const contents = []
  for (let time = 0; time < 2; time++) {
    await mailer.deliver(message, new AbortController().signal)
    const [name, ...others] = await readdir(outboxDir)
    expect(others).toEqual([])
    contents.push(await readFile(join(outboxDir, name as string), 'utf8'))
  }
  expect(contents[0]).toBe(contents[1])
  expect(contents[0]).toContain('Message-ID: <7.x@localhost>')
  await rm(outboxDir, { recursive: true })
})
