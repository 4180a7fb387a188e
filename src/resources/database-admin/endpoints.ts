import { createLink } from './create-link.ts'

/** In the order of the description of the API. */
export const endpoints = [createLink]
