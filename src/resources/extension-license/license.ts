import { randomBytes } from 'node:crypto'

/** A key that nobody guesses: 160 random bits, in hexadecimal. */
export const newLicenseKey = (): string => randomBytes(20).toString('hex')
