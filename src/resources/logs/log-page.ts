import Type, { type TObject } from 'typebox'

/** The wrapper of the description around the entries of a log. */
export function logPage<Entry extends TObject>(title: string, entry: Entry) {
  return Type.Object(
    {
      total_results: Type.Unsafe<null>({ type: 'null', description: 'Not counted' }),
      logs: Type.Array(entry),
      scroll_id: Type.String({ description: 'Send it to get the next (older) page', examples: ['nWq0c1xkZ3J5cGg'] }),
    },
    { title },
  )
}

export const scrollQuery = {
  scroll_id: Type.Optional(
    Type.String({
      maxLength: 200,
      description: '`scroll_id` of an earlier page: the page after it. Filters sent with it apply to this page',
    }),
  ),
}
