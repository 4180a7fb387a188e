/** Limit of unfinished tests and repeated deliveries of a webhook. */
export const MOST_ASIDE = 100
/** How many ended deliveries of a webhook are kept. */
export const KEPT_DELIVERIES = 1000
