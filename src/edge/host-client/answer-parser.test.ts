import { describe, expect, test } from 'vitest'
import { AnswerParser } from './answer-parser.ts'
import { HostError } from './host-error.ts'

/** Reads an answer of a host, in pieces of the given size. @returns a transcript of the events */
function read(text: string, { method = 'GET', pieceBytes = text.length || 1, closes = false } = {}): string[] {
  const told: string[] = []
  const parser = new AnswerParser({
    head: (status, reason, raw) => void told.push(`${status} ${reason}`, raw.join('|')),
    data(piece) {
      // How the body is split does not matter.
      if (told.length > 0 && told.at(-1)?.startsWith('body ')) told.push(`${told.pop()}${piece.toString('latin1')}`)
      else told.push(`body ${piece.toString('latin1')}`)
    },
    end: (isKept) => void told.push(isKept ? 'end' : 'end, and of the connection'),
  })
  parser.begin(method)
  const bytes = Buffer.from(text, 'latin1')
  const shared = Buffer.alloc(pieceBytes)
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const length = bytes.copy(shared, 0, at, at + pieceBytes)
    parser.take(shared.subarray(0, length))
  }
  if (closes && !parser.close()) told.push('cut off')
  return told
}

const answers: [string, string, string[]][] = [
  [
    'a length',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
    ['200 OK', 'Content-Length|5', 'body hello', 'end'],
  ],
  ['an empty body', 'HTTP/1.1 404 Not Found\r\ncontent-length:0\r\n\r\n', ['404 Not Found', 'content-length|0', 'end']],
  ['no reason', 'HTTP/1.1 204\r\nA: b \t\r\n\r\n', ['204 ', 'A|b', 'end']],
  [
    '304 with a length',
    'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n',
    ['304 Not Modified', 'Content-Length|9', 'end'],
  ],
  [
    'chunks, an extension and trailers',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3;a=b\r\nhel\r\n02\r\nlo\r\n0\r\nX: y\r\n\r\n',
    ['200 OK', 'Transfer-Encoding|Chunked', 'body hello', 'end'],
  ],
  [
    'bytes beyond ASCII',
    'HTTP/1.1 200 \xc3\xa4\r\nX: \xff\r\nContent-Length: 1\r\n\r\n\x00',
    ['200 \xc3\xa4', 'X|\xff|Content-Length|1', 'body \x00', 'end'],
  ],
  [
    'a connection that ends',
    'HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n\r\na',
    ['200 OK', 'Connection|x, Close|Content-Length|1', 'body a', 'end, and of the connection'],
  ],
  [
    'the older protocol',
    'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na',
    ['200 OK', 'Content-Length|1', 'body a', 'end, and of the connection'],
  ],
  [
    'what nobody has asked for before it',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    ['200 OK', 'Content-Length|2', 'body ok', 'end'],
  ],
]

describe('an answer of a host', () => {
  test.each(answers)('is read with %s, in pieces of any size', (_what, text, told) => {
    for (const pieceBytes of [text.length, 1, 2, 3, 7]) expect(read(text, { pieceBytes })).toEqual(told)
  })

  test('to HEAD has no body, whatever its headers say', () => {
    for (const framing of ['Content-Length: 5', 'Transfer-Encoding: chunked', 'X: y'])
      expect(read(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n`, { method: 'HEAD' })).toEqual([
        '200 OK',
        framing.replace(': ', '|'),
        'end',
      ])
  })

  test('without a length ends with the connection, and any other is broken off by that', () => {
    const head = 'HTTP/1.1 200 OK\r\nX: y\r\n'
    expect(read(`${head}\r\nabc`, { closes: true })).toEqual([
      '200 OK',
      'X|y',
      'body abc',
      'end, and of the connection',
    ])
    const coded = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\n'
    expect(read(`${coded}\r\nabc`, { closes: true }).slice(2)).toEqual(['body abc', 'end, and of the connection'])
    for (const rest of ['', '\r\n', 'Content-Length: 4\r\n\r\nabc', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'])
      expect(read(rest === '\r\n' ? head : `${head}${rest}`, { closes: true }).at(-1)).toBe('cut off')
  })

  test('with extra bytes behind it closes its connection', () => {
    const text = 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na'
    expect(read(`${text}HTTP/1.1 200 OK\r\n\r\n`).at(-1)).toBe('end, and of the connection')
    // Later bytes belong to no request.
    expect(() => read(`${text}b`, { pieceBytes: text.length })).toThrow(HostError)
  })

  test.each([
    'HTTP/2 200 OK\r\n\r\n',
    'HTTP/1.1 99 OK\r\n\r\n',
    'HTTP/1.1 600 OK\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    'HTTP/1.1 200 O\rK\r\n\r\n',
    'HTTP/1.1 200 OK\r\nA : b\r\n\r\n',
    'HTTP/1.1 200 OK\r\nA\r\n\r\n',
    'HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n',
    'HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n',
    'HTTP/1.1 200 OK\r\nA: \0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na',
    'HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\na',
    'HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\na',
    'HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999\r\n\r\na',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\nContent-Length: 1\r\n\r\na',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\na\n0\n\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno header\r\n\r\n',
    `HTTP/1.1 200 OK\r\nA: ${'x'.repeat(65_536)}\r\n\r\n`,
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(1_024)}\r\n`,
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${'X: y\r\n'.repeat(11_000)}\r\n`,
  ])('that could be read in two ways is rejected: %j', (text) => {
    for (const pieceBytes of [text.length, 5]) expect(() => read(text, { pieceBytes })).toThrow(HostError)
  })

  test('whose head never ends is not waited for', () => {
    expect(() => read('HTTP/1.1 200 OK\r\n'.padEnd(66_000, 'x'), { pieceBytes: 1_000 })).toThrow(HostError)
  })
})
