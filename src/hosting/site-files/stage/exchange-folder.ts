/**
 * The folder of a site directory, next to `web` and `private` and out of the site's reach, in which changes of its
 * files are prepared.
 */
export const EXCHANGE = 'exchange'
