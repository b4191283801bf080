// p5.brush's blend shader, said in a way that a CPU runs several times as fast, and that gives on llvmpipe what it gives
// on the GL of the published paintings. Value of this expression: a function from the text of a shader to the text to
// compile: that of the blend shader in our words, any other as it is.
//
// Its numbers are read from its own text. What is the same: Kubelka–Munk mixing of canvas and pigment over spectra of 38
// bands, and the mask's edge, found by derivatives in nine places around the pixel. What differs:
// - one pass over the bands instead of five over arrays, which a CPU keeps in memory;
// - bands whose pigments differ by less than `SAME` go as one: most lie where the eye, and so the sum, sees next to nothing;
// - the mask is read where its pixel lies, instead of being sampled there between four;
// - derivatives are those of the even row and column of each square of four pixels, which is what SwiftShader takes for
//   all four; llvmpipe takes each row's and column's own, and none where a neighbour has returned early (together 2 dB).
(function () {
  "use strict";

  const SAME = 5e-4; // greatest difference of any of the seven pigments' reflectances within a band
  const number = (text) => text.map(Number);
  const literal = (value) => (Number.isInteger(value) ? value.toFixed(1) : value.toPrecision(9));

  // The 38 bands: what each of the seven base pigments reflects (w c m y r g b), and what red, green and blue get of it.
  function bandsOf(source) {
    const F = "([\\d.]+)";
    const pigments = [..."wcmyrgb"].map((name) => `${name}\\*${F}`).join("\\+");
    const reflected = [...source.matchAll(new RegExp(`R\\[\\d+\\]=max\\(SPECTRAL_EPSILON,${pigments}\\)`, "g"))];
    const seen = [...source.matchAll(new RegExp(`xyz\\+=R\\[\\d+\\]\\*vec3\\(${F},${F},${F}\\)`, "g"))];
    const matrix = [...source.matchAll(/XYZ_RGB\[\d\]=vec3\((-?[\d.]+),(-?[\d.]+),(-?[\d.]+)\)/g)].map((m) => number(m.slice(1)));
    if (reflected.length !== 38 || seen.length !== 38 || matrix.length !== 3) return null;
    return reflected.map((match, i) => {
      const xyz = number(seen[i].slice(1));
      const rgb = matrix.map((row) => row[0] * xyz[0] + row[1] * xyz[1] + row[2] * xyz[2]);
      return { pigments: number(match.slice(1)), rgb, luminance: xyz[1], weight: xyz[0] + xyz[1] + xyz[2] };
    });
  }

  function merged(bands) {
    const groups = [];
    for (const band of bands) {
      const last = groups[groups.length - 1];
      const near = last && last.every((other) => other.pigments.every((p, i) => Math.abs(p - band.pigments[i]) < SAME));
      if (near) last.push(band);
      else groups.push([band]);
    }
    return groups.map((group) => {
      const weight = group.reduce((sum, band) => sum + band.weight, 0);
      const mean = (of) => group.reduce((sum, band) => sum + of(band) * band.weight, 0) / weight;
      const total = (of) => group.reduce((sum, band) => sum + of(band), 0);
      return {
        pigments: group[0].pigments.map((_, i) => mean((band) => band.pigments[i])),
        rgb: [0, 1, 2].map((i) => total((band) => band.rgb[i])),
        luminance: total((band) => band.luminance),
      };
    });
  }

  function mixing(bands) {
    const reflectance = (band, n) => {
      const [w, c, m, y, r, g, b] = band.pigments.map(literal);
      return `max(SPECTRAL_EPSILON,w${n}*${w}+dot(p${n},vec3(${c},${m},${y}))+dot(q${n},vec3(${r},${g},${b})))`;
    };
    const luminance = (n) => {
      const sums = [0, 1, 2, 3, 4, 5, 6].map((i) => literal(bands.reduce((sum, band) => sum + band.pigments[i] * band.luminance, 0)));
      const [w, c, m, y, r, g, b] = sums;
      return `w${n}*${w}+dot(p${n},vec3(${c},${m},${y}))+dot(q${n},vec3(${r},${g},${b}))`;
    };
    const parts = (n) => `
      vec3 l${n} = spectral_srgb_to_linear(color${n});
      float w${n} = min(l${n}.r, min(l${n}.g, l${n}.b));
      l${n} -= w${n};
      vec3 p${n} = min(l${n}.grr, l${n}.bbg);
      vec3 q${n} = max(vec3(0.0), l${n} - max(l${n}.grr, l${n}.bbg));
      float k${n} = factor${n} * factor${n} * tintingStrength${n} * tintingStrength${n} * (${luminance(n)});`;
    const sums = bands.map((band) => {
      const rgb = band.rgb.map(literal).join(",");
      return `
      a = ${reflectance(band, 1)};
      b = ${reflectance(band, 2)};
      k = (k1 * (1.0 - a) * (1.0 - a) * b + k2 * (1.0 - b) * (1.0 - b) * a) / (a * b);
      rgb += (1.0 + k - sqrt(k * k + 2.0 * k)) * vec3(${rgb});`;
    });
    return `${parts(1)}${parts(2)}
      float whole = 0.5 / (k1 + k2);
      k1 *= whole;
      k2 *= whole;
      float a, b, k;
      vec3 rgb = vec3(0.0);${sums.join("")}
      return spectral_linear_to_srgb(rgb);`;
  }

  const EDGE = `
    ivec2 last = textureSize(u_mask, 0) - 1;
    ivec2 here = ivec2(maskUV * vec2(last + 1));
    vec2 odd = mod(floor(gl_FragCoord.xy), 2.0);`;
  const NEIGHBOUR = `
      float neighborAlpha = texelFetch(u_mask, clamp(here + ivec2(i, j), ivec2(0), last), 0).a * 15.0;
      vec2 slope = vec2(dFdx(neighborAlpha), dFdy(neighborAlpha));
      slope -= odd.yx * vec2(dFdy(slope.x), dFdx(slope.y));`;

  return function (source) {
    const start = source.indexOf("vec3 spectral_mix(vec3 color1,float tintingStrength1");
    const end = source.indexOf("vec3 spectral_mix(vec3 color1,vec3 color2,float factor)");
    const bands = start > 0 && end > start && bandsOf(source);
    if (!bands) return source;
    const head = source.slice(start, source.indexOf("{", start) + 1);
    return (source.slice(0, start) + head + mixing(merged(bands)) + "}" + source.slice(end))
      .replace("if(maskColor.a==0.0){outColor=source;return;}", "")
      .replace(/outColor=(vec4\(spectral_mix[^;]+);/, "outColor=maskColor.a==0.0?source:$1;")
      .replace(/vec2 texelSize=[^;]+;/, EDGE)
      .replace(/vec2 neighborUV=[^;]+;float neighborAlpha=[^;]+;/, NEIGHBOUR)
      .replace(/length\(vec2\(dFdx\(neighborAlpha\),dFdy\(neighborAlpha\)\)\)/, "length(slope)");
  };
})()
