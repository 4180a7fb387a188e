import Type from 'typebox'

/** Body of the endpoints that add and remove tags, on all paths. */
export const TagNames = Type.Object(
  {
    tag_names: Type.Array(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: '\\S',
        description: 'must not be blank',
        examples: ['shop'],
      }),
      {
        maxItems: 50,
        description: "Stead creates missing tags and keeps the site's current tags. An empty list changes nothing",
      },
    ),
  },
  { title: 'TagNames' },
)

const tagIds = Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
  maxItems: 200,
  examples: [[1]],
  description: 'Stead ignores ids of tags that the site does not have. An empty list changes nothing',
})

export const TagIds = Type.Object({ tag_ids: tagIds }, { title: 'TagIds' })

/** {@link TagIds} for endpoints where the API description does not require it. */
export const TagIdsIfAny = Type.Object({ tag_ids: Type.Optional(tagIds) }, { title: 'TagIdsIfAny' })
