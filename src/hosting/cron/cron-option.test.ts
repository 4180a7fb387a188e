import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cronEvents } from './cron-option.ts'
import { UnreadableDatabase } from './event-source.ts'

const events = (text: string) => [...cronEvents(Buffer.from(text))]
const event = (args = 'a:0:{}') =>
  `a:1:{s:32:"${'0'.repeat(32)}";a:3:{s:8:"schedule";b:0;s:4:"args";${args}s:8:"interval";i:3600;}}`

describe('reading the cron option', () => {
  it('lists every hook with its time', () => {
    const text = `a:3:{i:1700000000;a:2:{s:3:"one";${event()}s:3:"two";${event()}}i:1700000060;a:1:{i:7;${event()}}s:7:"version";i:2;}`
    expect(events(text)).toEqual([
      { hook: 'one', at: 1_700_000_000_000 },
      { hook: 'two', at: 1_700_000_000_000 },
      { hook: '7', at: 1_700_000_060_000 },
    ])
    expect(events('a:1:{s:7:"version";i:2;}')).toEqual([])
    expect(events('a:0:{}')).toEqual([])
  })

  it('skips arguments of every type and counts bytes, not characters', () => {
    const args = [
      'a:1:{i:0;a:2:{s:1:"k";N;i:1;d:-1.5E-7;}}',
      'a:1:{i:0;s:6:"€";}";}',
      'a:1:{i:0;O:8:"stdClass":1:{s:1:"a";b:1;}}',
      'a:2:{i:0;d:NAN;i:1;R:3;}',
      'a:0:{}',
    ]
    for (const each of args)
      expect(events(`a:1:{i:5;a:1:{s:4:"hook";${event(each)}}}`), each).toEqual([{ hook: 'hook', at: 5000 }])
  })

  it('leaves out hooks without events, because nothing would ever run for them', () => {
    expect(events('a:1:{i:5;a:1:{s:4:"hook";a:0:{}}}')).toEqual([])
  })

  it('rejects everything else', () => {
    const deep = `${'a:1:{i:0;'.repeat(1000)}N;${'}'.repeat(1000)}`
    const evil = [
      '',
      'N;',
      'a:1:{i:5;N;}',
      'a:999999999:{i:5;a:0:{}}',
      'a:1:{i:5;a:1:{s:999999999:"hook";a:0:{}}}',
      'a:1:{i:5;a:1:{s:4:"hook";C:3:"Foo":2:{ab}}}',
      'a:0:{}trailing',
      `a:1:{i:5;a:1:{s:4:"hook";${event(deep)}}}`,
    ]
    for (const text of evil) expect(() => events(text), text.slice(0, 80)).toThrow(UnreadableDatabase)
  })

  it('throws only UnreadableDatabase, whatever the text', () => {
    const good = `a:2:{i:1700000000;a:1:{s:3:"one";${event('a:1:{i:0;s:1:"x";}')}}s:7:"version";i:2;}`
    const changes = fc.array(fc.tuple(fc.nat(good.length - 1), fc.string({ maxLength: 3 })), { maxLength: 4 })
    fc.assert(
      fc.property(changes, (list) => {
        let text = good
        for (const [at, put] of list) text = text.slice(0, at) + put + text.slice(at + 1)
        try {
          for (const each of events(text)) expect(typeof each.hook).toBe('string')
        } catch (error) {
          expect(error).toBeInstanceOf(UnreadableDatabase)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
