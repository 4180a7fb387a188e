import Type from 'typebox'

/** Bodies of the operations that add and remove tags, wherever they hang. */
export const TagNames = Type.Object({
  tag_names: Type.Array(
    Type.String({ minLength: 1, maxLength: 100, pattern: '\\S', description: 'must not be blank' }),
    {
      minItems: 1,
      maxItems: 50,
      description: 'Tags that do not exist yet are made; those that the site has already stay',
    },
  ),
})

export const TagIds = Type.Object({
  tag_ids: Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
    minItems: 1,
    maxItems: 200,
    description: 'Ids of tags that the site does not have are passed over',
  }),
})
