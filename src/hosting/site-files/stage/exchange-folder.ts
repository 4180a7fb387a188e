/**
 * The folder of a site directory, next to `web` and `private` and out of the site's reach, in which changes of its
 * files are prepared.
 */
export const EXCHANGE = 'exchange'

/** File next to it with the files that a comparison found to be the same, one `Known` per line. */
export const COMPARED = 'compared'
