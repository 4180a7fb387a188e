import { expect, test } from 'vitest'
import { FolderPasswords, hashOf, isSupported, TooManyPasswords } from './passwords.ts'

// Created by `htpasswd` and PHP.
const bcrypt = '$2y$05$h4DS/K3fDkaJTSg64lXj1u7dxfTS/1Wl4H55Dnhf3.dystn.0E40C'
const apr1 = '$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/'
const sha = '{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ='

test('accepts bcrypt, apr1, and SHA with the right password only', async () => {
  const passwords = new FolderPasswords()
  for (const hash of [bcrypt, apr1, sha]) {
    expect(await passwords.isRight(1, 'secret', hash)).toBe(true)
    expect(await passwords.isRight(1, 'secret', hash)).toBe(true)
    for (const wrong of ['Secret', '', 'secret ']) expect(await passwords.isRight(1, wrong, hash)).toBe(false)
  }
})

test('refuses hashes that cost too much or are unknown', async () => {
  for (const hash of [
    '$2y$31$h4DS/K3fDkaJTSg64lXj1u7dxfTS/1Wl4H55Dnhf3.dystn.0E40C',
    'secret',
    '',
    '$6$salt$x',
    '$1$abc$def',
  ])
    expect([hash, isSupported(hash), await new FolderPasswords().isRight(1, 'secret', hash)]).toEqual([
      hash,
      false,
      false,
    ])
})

test('limits the number of waiting checks, and those of one site further', async () => {
  const passwords = new FolderPasswords()
  const tries = Array.from({ length: 8 }, (_, i) => passwords.isRight(1, `wrong${i}`, bcrypt).catch((error) => error))
  const other = passwords.isRight(2, 'secret', bcrypt)
  const results = await Promise.all(tries)
  expect(results.filter((result) => result instanceof TooManyPasswords)).toHaveLength(3)
  expect(await other).toBe(true)
  expect(await passwords.isRight(1, 'secret', bcrypt)).toBe(true)
})

test('finds the line of a user', () => {
  expect(hashOf('a:1\nab:2\r\nb:3:more', 'ab')).toBe('2')
  expect(hashOf('a:1\nb:3:more', 'b')).toBe('3')
  expect(hashOf('a:1', 'c')).toBeUndefined()
})
