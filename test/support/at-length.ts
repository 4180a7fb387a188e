/** How often something that only chance can find is tried: `TEST_LONG=1 npm test`, before a release, takes its time. */
export const atLength = <Amount>(usual: Amount, long: Amount): Amount => (process.env.TEST_LONG ? long : usual)
