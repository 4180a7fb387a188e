import Type from 'typebox'
import { expect, expectTypeOf, test } from 'vitest'
import { definitionsByName, durable, durableWith, type StepContext } from './definition.ts'
import { oneStep } from './harness.ts'

const about = { name: 'test.types', input: Type.Object({ site: Type.Integer() }), on: 'control' } as const
type Context<Results = unknown> = StepContext<{ site: number }, { readonly host: string }, Results>
interface Home {
  readonly directoryId: number
}

const claim = async ({ input }: Context): Promise<Home> => ({ directoryId: input.site })
const use = async ({ results }: Context<{ home: Home }>): Promise<number> => results.home.directoryId
const misread = async ({ results }: Context<{ home: string }>): Promise<string> => results.home

test('results have the types that their steps return', () => {
  const definition = durableWith<{ readonly host: string }>()({
    ...about,
    changeableBy: 'account',
    steps: {
      home: { run: claim, undo: ({ results }) => expectTypeOf(results.home).toEqualTypeOf<Home | undefined>() },
      used: { run: use },
      record: {
        async commit(_tx, { results, input, services }) {
          expectTypeOf(results.home).toEqualTypeOf<Home>()
          expectTypeOf(results.used).toEqualTypeOf<number>()
          expectTypeOf(input.site).toEqualTypeOf<number>()
          expectTypeOf(services.host).toEqualTypeOf<string>()
          // @ts-expect-error no step has this name
          void results.house
        },
      },
    },
  })
  expect(Object.keys(definition.steps)).toEqual(['home', 'used', 'record'])
})

test('refuses a definition that misreads a result, or does not say who may change it', () => {
  const steps = { home: { run: claim }, misread: { run: misread } }
  // @ts-expect-error `home` returns no string
  durableWith<{ readonly host: string }>()({ ...about, changeableBy: 'account', steps })
  // @ts-expect-error `changeableBy` is required
  const open = durable({ ...about, steps: { only: { run: () => {} } } })
  expect(open.changeableBy).toBeUndefined()
})

test('refuses two definitions with one name', () => {
  expect(() => definitionsByName([oneStep(() => {}), oneStep(() => {})])).toThrow('the same name')
})
