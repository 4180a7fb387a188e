import { describe, expect, test } from 'vitest'
import { sorted } from './sorted.ts'

describe('rows of a list', () => {
  interface Row {
    readonly name: string
    readonly size: number | null
  }
  const rows: Row[] = [
    { name: 'Site 10', size: 5 },
    { name: 'site 9', size: null },
    { name: 'Ärger', size: 40 },
  ]
  const columns = [
    { key: 'name', by: ({ name }: Row) => name },
    undefined,
    { key: 'size', by: ({ size }: Row) => size },
  ]
  const names = (key: string, isDescending: boolean) =>
    sorted(rows, columns, { key, isDescending }).map(({ name }) => name)

  test('sort as people expect: numbers by value, text without regard to case', () => {
    expect(names('name', false)).toEqual(['Ärger', 'site 9', 'Site 10'])
    expect(names('name', true)).toEqual(['Site 10', 'site 9', 'Ärger'])
  })

  test('come last without a value, in both directions', () => {
    expect(names('size', false)).toEqual(['Site 10', 'Ärger', 'site 9'])
    expect(names('size', true)).toEqual(['Ärger', 'Site 10', 'site 9'])
  })

  test('keep their order for an unknown column', () => {
    expect(names('other', true)).toEqual(['Site 10', 'site 9', 'Ärger'])
  })
})
