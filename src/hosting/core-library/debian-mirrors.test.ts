import { expect, test } from 'vitest'
import { mirrorsIn } from './sources/debian-mirrors.ts'

test.each([
  [
    'Debian’s own paths',
    ['http://m.example/debian/ bookworm main', 'http://m.example/debian-security/ bookworm-security main'],
    { main: 'http://m.example/debian', security: 'http://m.example/debian-security' },
  ],
  [
    'a mirror with a path of its own, in a file of mirrors',
    [
      'mirror+file:/etc/apt/mirrors/debian.list trixie main',
      'mirror+file:/etc/apt/mirrors/more.list trixie-security main',
    ],
    { main: 'mirror+file:/etc/apt/mirrors/debian.list', security: 'mirror+file:/etc/apt/mirrors/more.list' },
  ],
  [
    'others who offer packages for Debian stand first',
    ['https://php.example/php/ bookworm main', 'https://m.example/debian bookworm main'],
    { main: 'https://m.example/debian', security: undefined },
  ],
  ['only parts that are not Debian’s main', ['https://m.example/debian bookworm contrib'], undefined],
  ['another distribution', ['https://m.example/ubuntu noble main'], undefined],
  ['nothing at all', [''], undefined],
])('reads mirrors: %s', (_name, lines, mirrors) => {
  expect(mirrorsIn(lines.join('\n'))).toEqual(mirrors)
})
