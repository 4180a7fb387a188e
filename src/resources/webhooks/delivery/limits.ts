/** Tests and repeated deliveries of a webhook that have not ended. */
export const MOST_ASIDE = 100
/** Deliveries of a webhook that have ended and are still shown. */
export const KEPT_DELIVERIES = 1000
