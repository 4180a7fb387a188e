import { createLink } from './create-link.ts'

/** In the order of the API description. */
export const endpoints = [createLink]
