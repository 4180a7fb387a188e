import { changeDnssec } from './change-dnssec.ts'
import { getDnssec } from './get-dnssec.ts'
import { rollKey } from './roll-key.ts'

/** Additions of Stead. */
export const endpoints = [getDnssec, changeDnssec, rollKey]
