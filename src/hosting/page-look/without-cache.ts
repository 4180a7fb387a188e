/**
 * Returns an address to which each visit appends a value of its own. Caches of plugins and of Stead answer such a visit
 * with a new page, because they keep pages by their whole address. A cached page would show the same quote by chance
 * until an update empties the cache.
 * @param address an URL or a path, without a fragment
 */
export const withoutCache = (address: string): string => `${address}${address.includes('?') ? '&' : '?'}stead-look=`
