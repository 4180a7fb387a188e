import Type, { type TObject } from 'typebox'

/** Wraps the entries of a log as the API description says. */
export function logPage<Entry extends TObject>(title: string, entry: Entry) {
  return Type.Object(
    {
      total_results: Type.Unsafe<null>({
        type: 'null',
        description: 'Always the same value: Stead does not count the entries',
      }),
      logs: Type.Array(entry),
      scroll_id: Type.String({
        description: 'Send this value to get the next, older page',
        examples: ['nWq0c1xkZ3J5cGg'],
      }),
    },
    { title },
  )
}

export const scrollQuery = {
  scroll_id: Type.Optional(
    Type.String({
      maxLength: 200,
      description: '`scroll_id` of a page, to get the page after it. Filters in the same request apply to the new page',
    }),
  ),
}
