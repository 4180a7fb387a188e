import Type from 'typebox'

/** Number of a site in paths and bodies. */
export const SiteId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
