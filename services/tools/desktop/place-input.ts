import { Type } from '@sinclair/typebox'

const Pixel = (description: string) => Type.Integer({ minimum: 0, maximum: 65_535, description })
const Length = Type.Integer({ minimum: 1, maximum: 65_535 })

export const RegionInput = Type.Object({ x: Pixel('From the left.'), y: Pixel('From the top.'), width: Length, height: Length }, {
  additionalProperties: false
})

/** The fields of a tool's input that name a point on the screen. */
export const placeFields = {
  x: Pixel('Pixels from the left edge.'),
  y: Pixel('Pixels from the top edge.'),
  view: Type.Optional(Type.Object({ ...RegionInput.properties, imageWidth: Length, imageHeight: Length }, {
    additionalProperties: false,
    description:
      'The view of the screenshot, as it came with it, when x and y are pixels of that picture. Without it they are pixels of the screen.'
  }))
}
