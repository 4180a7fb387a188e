import { randomBytes } from 'node:crypto'

/** Creates a key of 160 random bits, in hexadecimal. */
export const newLicenseKey = (): string => randomBytes(20).toString('hex')
