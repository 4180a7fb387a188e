/** Repetitions of a test that needs luck to find a bug. `TEST_LONG=1 npm test`, before a release, runs more of them. */
export const atLength = <Amount>(usual: Amount, long: Amount): Amount => (process.env.TEST_LONG ? long : usual)
