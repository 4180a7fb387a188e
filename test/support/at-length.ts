/** How often something that only chance can find is tried: `TEST_LONG=1 npm test`, before a release, takes its time. */
export const atLength = (usual: number, long: number): number => (process.env.TEST_LONG ? long : usual)
