import fc from 'fast-check'
import PostalMime from 'postal-mime'
import { describe, expect, it } from 'vitest'
import { type Handover, readMail } from './message.ts'

const site = { siteId: 7, names: ['shop.example', 'shop.stead.example'] }
const moment = { id: '7-x', now: Date.parse('2026-05-06T07:08:09Z') }

interface Given {
  to?: string
  subject?: string
  headers?: string
  recipients?: string[]
  sender?: string
}

function handover({ to, subject, headers = '', ...more }: Given): Handover {
  const bytes = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text))
  return { to: bytes(to), subject: bytes(subject), headers: Buffer.from(headers), ...more }
}
const read = (given: Given) => readMail(handover({ to: 'to@example.com', subject: 'Hello', ...given }), site, moment)
const parsed = (given: Given) => PostalMime.parse(read(given).head)
const linesOf = (head: Buffer) =>
  head
    .toString()
    .replace(/\r\n[ \t]/g, ' ')
    .split('\r\n')

describe('a mail from a site', () => {
  it('gets the missing headers: sender, date, id, and site', () => {
    const { head, envelope } = read({})
    expect(envelope).toEqual({ from: 'wordpress@shop.example', to: ['to@example.com'] })
    expect(head.toString()).toBe(
      [
        'Date: Wed, 06 May 2026 07:08:09 +0000',
        'Message-ID: <7-x@shop.example>',
        'From: wordpress@shop.example',
        'To: to@example.com',
        'Subject: Hello',
        'X-Stead-Site: 7',
        '',
        '',
      ].join('\r\n'),
    )
  })

  it.each([
    ['a name of the site stays', 'Shop <info@shop.example>', 'info@shop.example', undefined],
    ['in capitals, too', 'info@SHOP.stead.example', 'info@shop.stead.example', undefined],
    [
      'a name elsewhere becomes who gets the replies',
      'Me <me@mail.example>',
      'wordpress@shop.example',
      'me@mail.example',
    ],
    ['a domain above is not the site', 'a@stead.example', 'wordpress@shop.example', 'a@stead.example'],
    ['a domain below is not the site', 'a@x.shop.example', 'wordpress@shop.example', 'a@x.shop.example'],
    ['what is no address is nobody', 'nonsense', 'wordpress@shop.example', undefined],
  ])('has the right sender: %s', async (_what, from, address, replyTo) => {
    const email = await parsed({ headers: `From: ${from}` })
    expect(email.from?.address).toBe(address)
    expect(email.replyTo?.[0]?.address).toBe(replyTo)
    expect(read({ headers: `From: ${from}` }).envelope.from.toLowerCase()).toBe(address.toLowerCase())
  })

  it('keeps the reply address, and sends bounces where the site asks, if that address is its own', () => {
    const headers = 'From: me@mail.example\nReply-To: desk@mail.example'
    expect(read({ headers }).head.toString()).toContain('Reply-To: desk@mail.example\r\n')
    expect(read({ sender: 'bounces@shop.example' }).envelope.from).toBe('bounces@shop.example')
    expect(read({ sender: 'bounces@bank.example' }).envelope.from).toBe('wordpress@shop.example')
  })

  it('goes once to each recipient of To, Cc, and Bcc, without Bcc and headers that servers write', () => {
    const headers = [
      'Cc: "B, b" <b@example.com>, c@example.com',
      'bcc: d@example.com, to@example.com',
      'Return-Path: <x@bank.example>',
      'Sender: x@bank.example',
      'Resent-Bcc: y@example.com',
      'Received: from bank.example',
      'DKIM-Signature: v=1',
      'X-Stead-Site: 9',
    ]
    const { head, envelope } = read({ headers: `${headers.join('\r\n')}\r\n` })
    expect(envelope.to).toEqual(['to@example.com', 'b@example.com', 'c@example.com', 'd@example.com'])
    expect(head.toString()).toContain('Cc: "B, b" <b@example.com>, c@example.com\r\n')
    expect(head.toString()).not.toMatch(/d@example|bank\.example|y@example|DKIM|Site: 9/)
  })

  it('names no recipient when all are in Bcc', () => {
    const { head, envelope } = readMail(handover({ headers: 'Bcc: d@example.com' }), site, moment)
    expect(envelope.to).toEqual(['d@example.com'])
    expect(head.toString()).toContain('To: undisclosed-recipients:;\r\n')
  })

  it('goes to the recipients given to sendmail instead of those in the headers', () => {
    expect(read({ recipients: ['only@example.com'] }).envelope.to).toEqual(['only@example.com'])
  })

  it('keeps every script, with short lines', async () => {
    const subject = 'Grüße 今日は '.repeat(40).trim()
    const { head } = read({ subject, headers: 'From: "Zoë, Käthe" <a@shop.example>\nX-Note: Grüße' })
    expect(head.toString()).not.toMatch(/[^\r\n -~]/)
    expect(
      Math.max(
        ...head
          .toString()
          .split('\r\n')
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(80)
    const email = await PostalMime.parse(head)
    expect(email).toMatchObject({ subject, from: { name: 'Zoë, Käthe', address: 'a@shop.example' } })
  })

  it('keeps encoded text, and unfolds lines', async () => {
    const subject = '=?UTF-8?B?R3LDvMOfZQ==?=\r\n =?UTF-8?B?IQ==?='
    const headers = 'From: =?UTF-8?Q?Zo=C3=AB?= <a@shop.example>\nContent-Type: multipart/mixed;\n boundary="b"'
    const email = await parsed({ subject, headers })
    expect(email).toMatchObject({ subject: 'Grüße!', from: { name: 'Zoë' } })
    expect(linesOf(read({ headers }).head)).toContain('Content-Type: multipart/mixed; boundary="b"')
    expect(linesOf(read({ headers }).head)).toContain('MIME-Version: 1.0')
  })

  it('keeps the first of headers that may occur only once', () => {
    const headers =
      'Subject: Second\nContent-Type: text/html\nContent-Type: text/plain\nMessage-ID: <a@b>\nMessage-ID: <c@d>'
    const text = read({ headers }).head.toString()
    expect(text.match(/^(Subject|Content-Type|Message-ID):.*$/gm)).toEqual([
      'Message-ID: <a@b>',
      'Subject: Hello',
      'Content-Type: text/html',
    ])
  })

  it('has an international domain in the form of the DNS', () => {
    expect(read({ to: 'a@müller.example' }).envelope.to).toEqual(['a@xn--mller-kva.example'])
  })
})

describe('an invalid mail', () => {
  it.each<[string, Given, RegExp]>([
    ['a line break in the subject', { subject: 'a\nBcc: b@example.com' }, /subject has a line break/],
    ['one that is a return alone', { subject: 'a\rBcc: b@example.com' }, /subject has a line break/],
    ['a line break in the recipient', { to: 'a@example.com\r\nBcc: b@example.com' }, /to has a line break/],
    ['a null', { to: 'a@example.com\0' }, /control character/],
    ['a fold of nothing', { subject: 'a\r\n \r\n\r\nbody' }, /line break/],
    ['the end of the headers among them', { headers: 'X-A: 1\r\n\r\nbody' }, /empty line/],
    ['the same with spaces in it', { headers: 'X-A: 1\r\n \t\r\nX-B: 2' }, /empty line/],
    ['a return alone among the headers', { headers: 'X-A: 1\rBcc: b@example.com' }, /X-A has a line break/],
    ['headers that begin with nothing', { headers: '\r\nX-A: 1' }, /empty line/],
    ['headers that begin with a space', { headers: ' X-A: 1' }, /begin with a space/],
    ['a line that is no header', { headers: 'nonsense' }, /is not a header/],
    ['a name with a space', { headers: 'X A: 1' }, /is not a header/],
    ['a header without a space in 1,000 characters', { headers: `X-A: ${'x'.repeat(1000)}` }, /too long/],
    ['65 kB of headers', { headers: 'X-A: 1\r\n'.repeat(9000) }, /too long/],
    ['201 headers', { headers: 'X: 1\n'.repeat(201) }, /more than 200 headers/],
    ['nobody', { to: '' }, /no recipient/],
    ['what is no address', { to: 'nobody' }, /"nobody" is not an address/],
    ['an address with a space', { to: '"a b"@example.com' }, /is not an address/],
    ['101 recipients', { to: Array.from({ length: 101 }, (_, n) => `a${n}@example.com`).join(',') }, /more than 100/],
  ])('is refused for %s', (_what, given, reason) => {
    expect(() => read(given)).toThrow(
      expect.objectContaining({ name: 'MailFault', message: expect.stringMatching(reason) }),
    )
  })

  it('is detected quickly, in any form', () => {
    const bytes = 60_000
    const shapes = [' ', '(', '"', '<', ',', ';', ':', '\\', '=?', '@', 'ü', '\n ', 'a@b,', '((a)', '=?u?q?', ' ü']
    for (const shape of shapes)
      for (const name of ['To', 'From', 'Subject', 'X-A', 'Reply-To']) {
        const value = shape.repeat(bytes / shape.length / 2)
        const before = process.cpuUsage().user
        try {
          read({ headers: `${name}: a${value}b` })
        } catch (error) {
          expect((error as Error).name).toBe('MailFault')
        }
        // In microseconds. A site's mails within an hour must not take up the host.
        expect(process.cpuUsage().user - before, `${name} of ${JSON.stringify(shape)}`).toBeLessThan(2_000_000)
      }
  })
})

describe('random input', () => {
  const hostile = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '\r\n',
          '\n',
          '\r',
          '\0',
          '\r\n ',
          '\n\t',
          ' ',
          ':',
          ',',
          ';',
          '"',
          '<',
          '>',
          '\u2028',
          '\u0085',
          '=?utf-8?q?=0A?=',
        ),
        fc.constantFrom(
          'Bcc: victim@example.com',
          'victim@example.com',
          'X-Made-Up: 1',
          'Subject:',
          'ü',
          '今',
          '\ud800',
        ),
        fc.string({ maxLength: 12 }),
      ),
      { maxLength: 12 },
    )
    .map((pieces) => pieces.join(''))
  const ours = /^(?:Date|Message-ID|From|Reply-To|To|Subject|X-Stead-Site): /

  it('adds no header, recipient, or end of the headers through a separate field', () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, (subject, name, sender) => {
        const given = {
          to: 'to@example.com',
          subject,
          sender,
          headers: `From: "${name.replace(/[\r\n"]/g, '')}" <a@b.example>`,
        }
        let made: ReturnType<typeof read>
        try {
          made = read(given)
        } catch (error) {
          expect((error as Error).name).toBe('MailFault')
          return
        }
        expect(made.envelope.to).toEqual(['to@example.com'])
        expect(made.envelope.from).toMatch(/^[^\s<>,]+@shop(\.stead)?\.example$/i)
        const lines = linesOf(made.head)
        expect(lines.splice(-2)).toEqual(['', ''])
        for (const line of lines) expect(line).toMatch(ours)
      }),
      { numRuns: 2000 },
    )
  })

  it('has headers that end once, one per line, without the recipients in Bcc', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('X-A', 'Cc', 'Bcc', 'To', 'From', 'Content-Type', ''), hostile)),
        (pairs) => {
          const headers = pairs.map(([name, value]) => `${name}: ${value}`).join('\r\n')
          let made: ReturnType<typeof read>
          try {
            made = read({ headers: `Bcc: hidden@example.com\r\n${headers}` })
          } catch (error) {
            expect((error as Error).name).toBe('MailFault')
            return
          }
          const text = made.head.toString('latin1')
          expect(text.indexOf('\r\n\r\n')).toBe(text.length - 4)
          expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0]/)
          expect(text).not.toMatch(/^bcc:/im)
          expect(text).not.toContain('hidden@example.com')
          for (const line of linesOf(made.head).slice(0, -2)) expect(line).toMatch(/^[!-9;-~]+: ?/)
          for (const address of made.envelope.to) expect(address).toMatch(/^[^\s<>,]+@[^\s<>,]+$/)
        },
      ),
      { numRuns: 2000 },
    )
  })
})
