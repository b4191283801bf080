"""What every name that a sketch did not declare means: p5's, p5.brush's, the browser's; and whether it may be used.

The p5 names are the members of `p5.prototype` of p5 2.3.4, the brush names the exports of p5.brush 2.2.2, both read in
Chromium. What only sets a state (p5's own `fill`, `blendMode`, `lights`) is harmless: everything that would use
the state is refused. A name in no table is harmless.
"""

from __future__ import annotations

import re


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


def _codes(**names: str) -> dict[str, str]:
    return {name: code for code, text in names.items() for name in text.split()}


BRUSH_METHODS = words(
    "add addField arc beginShape beginStroke box circle clip endShape endStroke field fill fillBleed fillTexture"
    " flowLine hatch hatchArray hatchStyle instance line listFields load mass massArray move noClip noField noFill"
    " noHatch noMass noStroke noWash noiseSeed pick polygon rect refreshField scaleBrushes seed set spline stroke"
    " strokeWeight vertex wRand wash wiggle"
)
"""The 47 functions that p5.brush 2.2.2 exports."""

BRUSH_CLASSES = frozenset({"Plot", "Polygon", "Position"})

BRUSH_PAINTERS = words(
    "arc circle endShape endStroke flowLine hatchArray line massArray polygon rect spline Plot Polygon"
)
"""What puts paint on the canvas; the rest of the brush sets a state or collects points."""

P5_REFUSED = _codes(
    bare_primitives="""
        arc beginClip beginContour beginShape bezier bezierVertex box circle clip cone curve curveVertex cylinder
        debugMode ellipse ellipsoid endClip endContour endShape line model plane point quad quadraticVertex rect
        sphere spline splineVertex square torus triangle vertex buildGeometry createModel loadModel normal""",
    text_label="""
        text textAlign textAscent textBounds textDescent textDirection textFont textLeading textMode textProperties
        textProperty textSize textStyle textWeight textWidth textWrap fontAscent fontBounds fontDescent fontWidth
        loadFont textToModel textToPoints""",
    pixel_access="""
        baseColorShader baseComputeShader baseFilterShader baseMaterialShader baseNormalShader baseStrokeShader blend
        buildColorShader buildComputeShader buildFilterShader buildMaterialShader buildNormalShader buildStrokeShader
        compute copy createFilterShader createFramebuffer createGraphics createImage createShader createStorage
        drawingContext erase filter get getFilterGraphicsLayer getTexture image imageLight imageShader loadColorShader
        loadFilterShader loadMaterialShader loadNormalShader loadPixels loadShader loadStrokeShader panorama pixels
        set shader strokeShader texture textureMode textureWrap updatePixels""",
    external_access="""
        clearStorage createA createAudio createButton createCapture createCheckbox createColorPicker createDiv
        createElement createFileInput createImg createInput createP createRadio createSelect createSlider createSpan
        createVideo createWriter downloadFile encodeAndDownloadGif exitPointerLock fullscreen getItem getURL
        getURLParams getURLPath gridOutput httpDo httpGet httpPost loadBlob loadBytes loadImage loadJSON loadStrings
        loadTable loadXML parseFontData removeElements removeItem requestPointerLock save saveCanvas saveFrames
        saveGif saveJSON saveStrings saveTable select selectAll storeItem textOutput writeFile""",
)
"""Members of p5.prototype that draw, load, read or write pixels, or make elements → the violation's code."""

P5_HARMLESS = words("""
    abs acos acosh alpha ambientLight ambientMaterial angleMode applyMatrix asin asinh atan atan2 atanh background
    bezierOrder bezierPoint bezierTangent blendMode blue bool boolean break brightness bvec2 bvec3 bvec4 byte camera
    ceil char clamp clear clearDepth color colorMode constrain cos cosh createCamera createCanvas createMatrix
    createVector cross cursor curveDetail dFdx dFdy day degrees describe describeElement directionalLight discard
    displayDensity dist distance dot ellipseMode emissiveMaterial equal exp exp2 faceforward fill float floor fma
    fract frameRate freeGeometry frustum fwidth getFrameRate getTargetFrameRate green height hex hour hue imageMode
    instanceID int inversesqrt isLooping ivec2 ivec3 ivec4 keyIsDown length lerp lerpColor lightFalloff lightness
    lights linePerspective log log2 loop mag map mat2x2 mat3x3 mat4x4 max metalness millis min minute mix mod month nf
    nfc nfp nfs noCanvas noCursor noDebugMode noErase noFill noLights noLoop noSmooth noStroke noTint noise
    noiseDetail noiseSeed norm normalMaterial normalize notEqual orbitControl ortho paletteLerp perspective
    pixelDensity pointLight pop pow print push radians random randomGaussian randomSeed rectMode red redraw reflect
    refract remove resetMatrix resetShader resizeCanvas rotate rotateX rotateY rotateZ round roundEven sampler2D
    saturation scale screenToWorld second setAttributes setCamera setFrameRate setMoveThreshold setShakeThreshold
    shearX shearY shininess shuffle sign sin sinh smooth smoothstep specularColor specularMaterial splinePoint
    splineProperties splineProperty splineTangent splitTokens spotLight sq sqrt step str strandsEarlyReturn strandsFor
    strandsIf strandsTernary stroke strokeCap strokeJoin strokeMode strokeWeight tan tanh tint translate trunc unchar
    unhex vec2 vec3 vec4 vertexProperty width worldToScreen year""")
"""The rest of p5.prototype: mathematics, random and noise, colours, vectors, structure, transforms, states."""

P5_SHADER_VARIABLES = re.compile(
    r"(shared|uniform|varying)(Bool|Float|Int|Sampler2D|Texture|Mat[234]x[234]|[BI]?Vec(tor)?[234])|uniformStorage"
)
"""p5 2.3 declares some ninety of these for its shader language; without a shader they do nothing."""

P5_STATICS_REFUSED = _codes(
    bare_primitives="Geometry Shape Quad Triangle Contour",
    text_label="Font",
    pixel_access="""
        Graphics Image Framebuffer FramebufferCamera FramebufferTexture MipmapTexture RenderBuffer Renderer Renderer2D
        Renderer3D RendererGL Shader Texture renderers""",
    external_access="""
        Element File MediaElement PrintWriter Table TableRow XML decorations lifecycleHooks registerAddon
        registerDecorator registerMethod registerPreloadMethod""",
)
"""Members of the class p5 itself; `p5.Vector` and `p5.Color` are harmless."""

BROWSER_REFUSED = _codes(
    external_access="""
        eval Function AsyncFunction GeneratorFunction WebAssembly ShadowRealm importScripts trustedTypes document
        location navigator history navigation clientInformation opener event frameElement customElements external fetch
        fetchLater XMLHttpRequest WebSocket WebSocketStream EventSource WebTransport Worker SharedWorker
        BroadcastChannel MessageChannel MessagePort postMessage Notification PushManager open close stop find alert
        confirm prompt getSelection getComputedStyle matchMedia localStorage sessionStorage indexedDB caches
        cookieStore sharedStorage Storage Image Audio Option FileReader FileReaderSync File Blob URL webkitURL
        Document Node Element Range Text Comment DocumentFragment ShadowRoot DOMParser XMLSerializer XSLTProcessor
        XPathEvaluator MutationObserver ResizeObserver IntersectionObserver PerformanceObserver ReportingObserver
        AudioContext OfflineAudioContext speechSynthesis PaymentRequest Request Response Headers FormData chrome
        launchQueue documentPictureInPicture queryLocalFonts getScreenDetails showDirectoryPicker showOpenFilePicker
        showSaveFilePicker webkitRequestFileSystem webkitResolveLocalFileSystemURL moveBy moveTo resizeBy resizeTo
        fence viewport""",
    text_label="FontFace FontFaceSet",
    pixel_access="""
        OffscreenCanvas ImageData ImageBitmap Path2D createImageBitmap VideoFrame VideoDecoder VideoEncoder
        ImageDecoder MediaStreamTrackProcessor MediaStreamTrackGenerator CanvasRenderingContext2D
        OffscreenCanvasRenderingContext2D ImageBitmapRenderingContext HTMLCanvasElement CanvasGradient CanvasPattern
        TextMetrics defaultCanvas0 _renderer""",
)
"""Globals of the page that load, evaluate code, reach the document or another canvas → code."""

_BROWSER_FAMILIES = (
    (re.compile(r"WebGL|GPU|EXT_|OES_|WEBGL_"), "pixel_access"),
    (re.compile(r"(HTML|SVG|MathML)\w*|CSS\w+|RTC\w+|webkitRTC\w+|IDB\w+|Media[A-Z]\w+|Speech\w+|webkitSpeech\w+"
                r"|Service\w+|Cache\w*|Cookie\w+|FileSystem\w+|Navigator\w*|Location|History|Window|XMLHttp\w+|XPath\w+"),
     "external_access"),
)  # fmt: skip

WINDOW_NAMES = frozenset({"window", "globalThis", "self", "frames", "top", "parent"})
"""Names of the global object, as globals and as its own members."""

P5_PRIVATE = re.compile(r"_\w+|canvas|elt|GL|drawingContext|pixels")
"""Members of a p5 instance through which the canvas can be written without p5's functions."""

EVENT_REACHES = words(
    "target currentTarget srcElement relatedTarget explicitOriginalTarget view path composedPath source detail"
)
"""Members of an event that lead to the document or the window."""

CANVAS_EVENTS = words(
    "mousePressed mouseReleased mouseClicked mouseMoved mouseOver mouseOut mouseWheel doubleClicked touchStarted"
    " touchMoved touchEnded"
)
"""Methods of the canvas that take a listener."""

CANVAS_HARMLESS = CANVAS_EVENTS | words(
    "width height id class style position center hide show size then constructor pixelDensity toString valueOf"
    " hasOwnProperty toJSON"
)
"""What a sketch may ask of the canvas that `createCanvas` returned: its size, its place in the page, its events."""

CANVAS_CHAIN = CANVAS_HARMLESS - words("width height then constructor toString valueOf hasOwnProperty toJSON")
"""What of it returns the canvas again."""

P5_GIVES_RENDERER = words("createCanvas translate rotate rotateX rotateY rotateZ scale background")
"""p5 functions that return p5's renderer, which is also what `createCanvas` returns."""

P5_GIVES_ITSELF = words("""
    ambientLight ambientMaterial applyMatrix clear directionalLight ellipseMode emissiveMaterial frameRate frustum
    lightFalloff lights metalness noErase noFill noLights noSmooth noStroke noTint normalMaterial orbitControl ortho
    perspective pointLight rectMode resetMatrix resetShader shearX shearY shininess smooth specularColor
    specularMaterial spotLight strokeCap strokeJoin tint""")
"""p5 functions that return the p5 instance."""

KEYSTONES = frozenset({"brush", "p5", "createCanvas"})
"""Globals of the libraries that a sketch may not replace."""

REACHES = _codes(
    external_access="""
        document ownerDocument defaultView contentWindow contentDocument localStorage sessionStorage indexedDB
        insertAdjacentHTML getThis getFunction caller""",
    pixel_access="getContext toDataURL toBlob drawingContext _renderer _pInst",
)
"""Members that lead out of the sketch whatever object has them → code, unless the sketch has such members itself."""

SINKS = words("innerHTML outerHTML srcdoc cookie prepareStackTrace")
"""Members that write a page, or hand its stack to the sketch, when they are assigned."""

_CANVAS_ELEMENT = words("parent child html remove attribute removeAttribute value drop addClass elements")


def p5_code(name: str) -> str | None:
    """The code for using the p5 function or variable `name`, None when it may be used or p5 has no such member."""
    return P5_REFUSED.get(name)


def is_p5(name: str) -> bool:
    """Whether `name` is a member of p5.prototype that p5 puts on the window."""
    return name in P5_REFUSED or name in P5_HARMLESS or bool(P5_SHADER_VARIABLES.fullmatch(name))


def browser_code(name: str) -> str | None:
    """The code for reaching the browser's global `name`, None when it is harmless or unknown."""
    if name in BROWSER_REFUSED:
        return BROWSER_REFUSED[name]
    for family, code in _BROWSER_FAMILIES:
        if family.match(name) if code == "pixel_access" else family.fullmatch(name):
            return code
    return None


def canvas_code(name: str) -> str | None:
    """The code for using member `name` of what `createCanvas` returned (p5's renderer)."""
    if name in CANVAS_HARMLESS:
        return None
    return "external_access" if name in _CANVAS_ELEMENT else P5_REFUSED.get(name, "pixel_access")


PAGE_PIXELS = words("""
    getContext toDataURL toBlob convertToBlob transferToImageBitmap transferControlToOffscreen captureStream canvas2d
    webgl OffscreenCanvas ImageData Path2D createImageBitmap VideoFrame override""")
"""What the page's instrumentation counts as "page.<name>" and is about pixels; everything else it counts is outside."""
