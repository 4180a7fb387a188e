import Type from 'typebox'

/** The number of a site, as paths and bodies have it. */
export const SiteId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
